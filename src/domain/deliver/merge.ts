import { toMs } from '../values/duration.ts';
import type { Failure, Reason } from '../agent/failure.ts';
import type { PolicyTask } from '../repository/repo-policy.ts';
import type { Task } from '../task/schema.ts';

/** What a task that wants to be merged is told by its merge queue: how far it is, and once how it ended. */
export type MergeAnswer =
  | { place: number }
  /** To one that wants to leave: it is out, and its result was not pushed. */
  | { left: true }
  /** `commit`: on the target branch, with this task's result in it. */
  | { merged: true; commit: string }
  /** It was taken out of the queue; `target` is the commit that it did not go with. */
  | Refusal;

interface Refusal {
  merged: false;
  reason: Extract<Reason, 'merge-failed' | 'repo-unavailable' | 'machine-fault'>;
  message: string;
  target: string;
}

/** When a result is its turn, and what it is checked by: a queue may hold many. */
export type MergedTask = Omit<PolicyTask, 'review'> & Pick<Task, 'priority' | 'ageing'>;

export function mergedTask(task: Task): MergedTask {
  const { priority, ageing, type, repo, cwd, submodules, parent, scope, artifacts, verify, limits } = task;
  return {
    ...{ priority, ageing, type, scope, artifacts, limits },
    ...(repo ? { repo } : {}),
    ...(cwd ? { cwd } : {}),
    ...(submodules ? { submodules } : {}),
    ...(parent ? { parent } : {}),
    // They were passed before it got here.
    ...(verify ? { verify: { ...verify, heldOut: [], where: 'here' as const } } : {}),
  };
}

/** A result that waits to be merged, delivered as the branch of its task. */
export interface MergeEntry {
  id: string;
  commit: string;
  task: MergedTask;
  /** The worker that made it. */
  hostQueue: string;
  /** ISO: since when it waits. */
  at: string;
}

/** A target branch of one repository, with all that waits for it. */
export interface MergeQueueRecord {
  repo: string;
  into: string;
  /** Where workers are looked for. */
  queue: string;
  /** Set for a path repository: only a worker there can do it. */
  machine: string | null;
  waiting: (MergeEntry & { place?: number })[];
}

/** A queue as lists show it: its memo. */
export interface Merges extends Pick<MergeQueueRecord, 'repo' | 'into'> {
  /** How many wait. */
  count: number;
  /** The first of them, and since when each waits, ISO. */
  waiting: Pick<MergeEntry, 'id' | 'at'>[];
}
const SHOWN_MAX = 20;

export const shownOf = (
  { repo, into }: Pick<MergeQueueRecord, 'repo' | 'into'>,
  ordered: readonly MergeEntry[],
): Merges => ({
  ...{ repo, into, count: ordered.length },
  waiting: ordered.slice(0, SHOWN_MAX).map(({ id, at }) => ({ id, at })),
});

/** Places of which a task hears each time that its own changes; of one behind them it hears when it comes. */
const TOLD_MAX = 10;

/** Which of them are to hear of their places now. */
export const placesToTell = <E extends { place?: number }>(ordered: readonly E[]): { entry: E; place: number }[] =>
  ordered.flatMap((entry, i) => {
    const place = i + 1;
    const hears = entry.place === undefined || place <= TOLD_MAX;
    return hears && entry.place !== place ? [{ entry, place }] : [];
  });

/** How often the tries of one batch met what: no worker, one that was lost, one that could not do it. */
export interface MergeTries {
  nobody: number;
  lost: number;
  failed: number;
}
/** After so many its tasks are told. */
const MOST: MergeTries = { nobody: Number.POSITIVE_INFINITY, lost: 10, failed: 6 };
const FIRST_PAUSE_MS: MergeTries = { nobody: 20_000, lost: 2_000, failed: 10_000 };
const LONGEST_PAUSE_MS = 5 * 60_000;

/** Milliseconds until the next try, longer each time; null: enough. */
export function pauseAfter(what: keyof MergeTries, tries: MergeTries): number | null {
  const met = tries[what];
  return met >= MOST[what] ? null : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS[what] * 2 ** (met - 1));
}

/** What a worker is to merge onto the target's head, in this order. */
export interface MergeInput extends Pick<MergeQueueRecord, 'repo' | 'into'> {
  members: MergeEntry[];
}

/** One that did not get in, and why. */
export interface RefusedMerge {
  id: string;
  reason: 'merge-failed' | 'repo-unavailable';
  message: string;
}

/** What came of it: all were pushed together, or those in `red` not at all. */
export type MergeOutcome =
  | {
      ok: true;
      /** The target's head that they were merged onto. */
      target: string;
      merged: { id: string; commit: string }[];
      refused: RefusedMerge[];
      /** Their checks fail together. */
      red: { ids: string[]; message: string } | null;
    }
  | { ok: false; failure: Failure };

/** Whether another try, or another worker, may do better: a remote comes back; a branch that is checked out, or missing, is a person's. */
export const mayPass = ({ reason, lasting }: Failure): boolean =>
  !lasting && (reason === 'machine-fault' || reason === 'repo-unavailable');

/** What the tasks of a batch that could not be merged are told. */
export const refusalOf = ({ reason, message }: Failure): Pick<Refusal, 'reason' | 'message'> => ({
  reason: reason === 'machine-fault' ? reason : 'repo-unavailable',
  message,
});

/** Results that are merged and checked at a time. */
export const BATCH_MAX = 5;
/** Waiting for a task's `ageing` counts as so much of its priority: nothing waits for ever. */
const AGED = 20;

/** First to be merged first: by priority and by how long each has waited. */
export function mergeOrder<E extends Pick<MergeEntry, 'at' | 'id'> & { task: Pick<MergedTask, 'priority' | 'ageing'> }>(
  waiting: readonly E[],
  nowMs: number,
): E[] {
  const urgency = ({ task, at }: E) => task.priority - (AGED * (nowMs - Date.parse(at))) / toMs(task.ageing);
  return [...waiting].sort((a, b) => urgency(a) - urgency(b) || a.at.localeCompare(b.at) || a.id.localeCompare(b.id));
}

/**
 * The next to be merged together: from the first, as long as they are checked by the same rule for the tests of others
 * (`scope.allow` named or not).
 */
export function nextBatch<E extends Pick<MergeEntry, 'task'>>(ordered: readonly E[]): E[] {
  const scoped = ({ task }: E) => task.scope.allow !== undefined;
  const [first] = ordered;
  const end = ordered.findIndex((entry) => first && scoped(entry) !== scoped(first));
  return ordered.slice(0, Math.min(BATCH_MAX, end === -1 ? BATCH_MAX : end));
}

/** What a batch whose checks fail is tried again as, one after the other; one alone is the culprit. */
export const halves = <E>(members: readonly E[]): E[][] => {
  const middle = Math.ceil(members.length / 2);
  return [members.slice(0, middle), members.slice(middle)].filter((half) => half.length > 0);
};
