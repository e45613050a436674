import type { TaskState } from './run.ts';

/** Why something that a worker keeps may go, in the order in which it goes where the disk is short. */
export const KEEP_CLASSES = ['unused', 'accepted', 'orphaned', 'rejected', 'parked'] as const;
export type KeepClass = (typeof KEEP_CLASSES)[number];

/** Where a task came from whose record a worker keeps. */
export interface TaskOrigin {
  /** `<address>/<namespace>` */
  server: string;
  /** Name of the worker that ran it here. */
  worker: string;
}

/** What the server says of a task; null: it has none of that id. */
export type Standing = { state: TaskState; worker: string | null } | null;

/** The class of what a worker keeps of a task; undefined where the task may still need it, or that cannot be told. */
export function keepClassOf(
  standing: Standing,
  { origin, server }: { origin: TaskOrigin | undefined; server: string },
): KeepClass | undefined {
  // Another server's tasks are not this one's to judge.
  if (origin ? origin.server !== server : standing === null) return undefined;
  if (standing === null) return 'orphaned';
  if (standing.state === 'parked') return 'parked';
  if (!['done', 'failed', 'cancelled'].includes(standing.state)) return undefined;
  if (origin && standing.worker !== null && standing.worker !== origin.worker) return 'orphaned';
  return standing.state === 'done' ? 'accepted' : 'rejected';
}

/** What was cleaned, so that whoever asks for it later is told. */
export interface Cleaned {
  taskId: string;
  class: KeepClass;
  /** ISO */
  at: string;
  /** Milliseconds for which it had been kept. */
  ageMs: number;
}
