import type { GitFailure, GitOptions } from '../git.ts';
import type { CopyObjects } from '../pack.ts';

/** What the worker asks its git process for, over the channel that `fork` gives; answers come in any order. */
export type Request = { id: number } & (
  | { op: 'git'; args: readonly string[]; options: GitOptions }
  | { op: 'copyObjects'; copy: CopyObjects }
);

export type Response = { id: number } & (
  | { stdout: Uint8Array }
  /** Git ended otherwise than with 0. */
  | { failed: GitFailure & { args: readonly string[] } }
  | { broken: string }
);
