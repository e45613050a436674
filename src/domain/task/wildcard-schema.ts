import { z } from 'zod';

/** A name with wildcards: `*` is any part of it, also one with slashes, `?` any one character. */
export const wildcard = z
  .string()
  .min(1, { error: 'must not be empty' })
  .max(256, { error: 'must be 256 characters at most' })
  .regex(/^[^\n\r\0]*$/, { error: 'must be one line' });
