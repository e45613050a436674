/** What a client may ask one worker, by way of the `askWorker` workflow on that worker's own queue. */
export interface Question {
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
