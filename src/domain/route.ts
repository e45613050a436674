import type { z } from 'zod';
import type { limits } from './task.ts';

/** What a run is to use: what its task pins, or what a rule of its worker chose. */
export interface Choice {
  coder: string;
  /** Name of one of the worker's credentials; missing: any of the coder's. */
  credential?: string;
  /** Missing: the coder's own default. */
  model?: string;
  /** Of the rule: see `mergePolicy` for what it comes to. */
  limits?: z.output<typeof limits>;
  /** Which rule chose it; missing where the task or the worker's default did. */
  rule?: string;
}
