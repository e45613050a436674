import { OPEN_STATES, type TaskState } from '../task/state.ts';

/** Why something that a worker keeps may go, in the order in which it goes where the disk is short. */
export const KEEP_CLASSES = ['unused', 'accepted', 'orphaned', 'rejected', 'set-aside'] as const;
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

/** The class of what a worker keeps of a task; undefined where the task is open and may need it, or that cannot be told. */
export function keepClassOf(
  standing: Standing,
  { origin, server }: { origin: TaskOrigin | undefined; server: string },
): KeepClass | undefined {
  // Another server's tasks are not this one's to judge.
  if (origin ? origin.server !== server : standing === null) return undefined;
  if (standing === null) return 'orphaned';
  if (isOpen(standing)) return undefined;
  if (origin && standing.worker !== null && standing.worker !== origin.worker) return 'orphaned';
  return standing.state === 'done' ? 'accepted' : 'rejected';
}

/** Whatever its age, an open task may need what is kept of it: its next run goes on from there. */
export const isOpen = (standing: Standing): boolean =>
  standing !== null && (OPEN_STATES as readonly TaskState[]).includes(standing.state);

/** What was cleaned, so that whoever asks for it later is told. */
export interface Cleaned {
  taskId: string;
  /** `named`: somebody named the task. */
  class: KeepClass | 'named';
  /** ISO */
  at: string;
  /** Milliseconds for which it had been kept. */
  ageMs: number;
}
