import { z } from 'zod';
import { isTaskId } from '../names.ts';

const commit = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);

/** A session id as coders make it: nothing else goes into a path or onto a command line. */
const session = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{7,99}$/);
export const isSessionId = (text: string): boolean => session.safeParse(text).success;

/** What travels with saved work: `meta.json` of the commit on `workRef` and `wipRef`, whose parent is the work. */
const workMeta = z.strictObject({
  taskId: z.string().refine(isTaskId),
  runId: z.string().regex(/^\d+-[0-9a-f]+$/),
  /** Number of the run: a higher one's work is never overwritten by a lower one's. */
  n: z.int().positive(),
  /** Workflow run that the task had: its id can be used again. */
  workflow: z.string().max(100),
  base: commit,
  head: commit,
  coder: z.string().max(40),
  /** The file below `session/` holds it. */
  session: z.strictObject({ id: session, file: z.string().regex(/^[\w-][\w.-]{0,199}$/) }).nullable(),
  /** The tool call that nobody saw the end of. */
  inFlight: z.string().max(1_000).nullable(),
  /** When the run was claimed, and when this was saved. */
  claimedAt: z.iso.datetime(),
  at: z.iso.datetime(),
});
export type WorkMeta = z.output<typeof workMeta>;

/** Undefined for anything that this version did not write: a remote's ref can hold whatever its users push. */
export function parseWorkMeta(text: string): WorkMeta | undefined {
  try {
    return workMeta.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Whether work that is there already is newer than ours, and stays. */
export function isNewer(there: WorkMeta, ours: WorkMeta): boolean {
  if (there.workflow !== ours.workflow) return there.claimedAt > ours.claimedAt;
  return there.n === ours.n ? there.at > ours.at : there.n > ours.n;
}
