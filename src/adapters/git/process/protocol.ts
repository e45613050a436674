import type { GitFailure, GitOptions, CopyObjects } from '../git.ts';
import type { FolderSize } from '../../disk/measure-folder.ts';

/** What the worker asks its git process for, over the channel that `fork` gives; answers come in any order. */
export type Request = { id: number } & (
  | { op: 'git'; args: readonly string[]; options: GitOptions }
  | { op: 'copyObjects'; copy: CopyObjects }
  | { op: 'folderSize'; path: string }
);

export type Response = { id: number } & (
  | { stdout: Uint8Array }
  | { size: FolderSize }
  /** Git ended otherwise than with 0. */
  | { failed: GitFailure & { args: readonly string[] } }
  | { broken: string }
);
