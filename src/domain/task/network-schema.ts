import { z } from 'zod';
import { hostRule, REACHES } from './network.ts';

/** What may be reached: words, and hosts by name. */
export const reach = z
  .array(
    z.string().refine((text) => REACHES.some((word) => word === text) || hostRule(text) !== undefined, {
      error: `must be ${REACHES.join(', ')} or a host, with a port where that is not 80 or 443`,
    }),
  )
  .max(200);
