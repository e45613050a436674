import type { SavedRun } from '../agent/saved-work.ts';

/** What a client may ask one worker, by way of the `askWorker` workflow on that worker's own queue. */
export type Question = FileQuestion | WorkQuestion | BranchQuestion;

/** What a worker answers, by what it was asked. */
export interface Answers {
  file: FilePiece;
  /** Newest first; empty where it has saved nothing of that task. */
  work: SavedRun[];
  branch: { commit: string };
}

/** All saved work of a task there. */
export interface WorkQuestion {
  ask: 'work';
  taskId: string;
}

/** Makes a branch at the saved work of a run, in the task's repository. Asked again it changes nothing. */
export interface BranchQuestion {
  ask: 'branch';
  taskId: string;
  runId: string;
  /** Without `refs/heads/`. */
  branch: string;
}

export interface FileQuestion {
  /** A piece of a task's record on that worker. Waits up to `waitMs` for bytes behind `offset`. */
  ask: 'file';
  taskId: string;
  n: number;
  file: TaskFile;
  offset: number;
  waitMs: number;
}

export const TASK_FILES = [
  'log',
  'stderr',
  'events',
  'receipts',
  'diff',
  'acceptance',
  'setup',
  'plan',
  'knowledge',
  'spec',
] as const;
export type TaskFile = (typeof TASK_FILES)[number];

export interface FilePiece {
  /** UTF-8, 256 KB at most. */
  text: string;
  /** Where to go on reading. */
  next: number;
  /** Nothing more will come. */
  end: boolean;
  /** Bytes between the asked offset and this piece that are no longer kept. */
  gap: number;
}
