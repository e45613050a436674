import { FAILURES, type Failure, type Reason } from '../agent/failure.ts';
import { toMs } from '../values/duration.ts';
import type { Met } from '../run/claim.ts';
import type { RunView } from './task-view.ts';
import type { ResumeFrom } from '../agent/saved-work.ts';
import type { Task } from '../task/schema.ts';

/** What the workflow does after a run that did not end in an accepted, delivered result. */
export type Decision =
  | { next: 'retry'; delayMs: number }
  /** A person is asked what the agent wants to know. */
  | { next: 'ask' }
  /** A person decides. `reason` may be another than the run's, e.g. `poison`. */
  | { next: 'park'; reason: Reason; message: string };

/** Distinct workers lost under one task before it is held; one worker that keeps breaking counts by its losses. */
const LOST_WORKERS = 3;
/** Runs in a row that may end by what is their worker's own: what more of them meet is not. */
export const LOCAL_RUNS = 3;
const MOST_LOSSES = 10;
/** So often a result that does not go with others goes back to its agent. */
const MERGE_TRIES = 1;
const PAUSE_MS = 60_000;
const LONGEST_BACKOFF_MS = 30 * 60_000;
/** A reset time comes from the agent's output: no weekly limit is further away. */
const LONGEST_WAIT_MS = 8 * 86_400_000;
/** In a row, half an hour apart: what lasts longer needs a person. */
const MOST_WAITS = 50;
/** The same for a full disk, which an agent can bring about by itself. */
const MOST_DISK_WAITS = 5;

/** Pure: the same runs and failure give the same decision. `runs` ends with the failed one; `nowMs` is the workflow's clock. */
export function decide(after: {
  task: Pick<Task, 'retry' | 'pr'>;
  runs: readonly RunView[];
  failure: Failure;
  nowMs: number;
}): Decision {
  const { task, runs, failure, nowMs } = after;
  const policy = FAILURES[failure.reason];
  const used = attemptsUsed(runs);
  if (failure.lasting) return { next: 'park', reason: failure.reason, message: failure.message };
  // Whether there is a seat of another credential is for the claim to find out, and to wait for.
  if (failure.moves && inARow(runs) <= MOST_WAITS) return { next: 'retry', delayMs: 0 };
  if (failure.local) return { next: 'retry', delayMs: 0 };
  if (policy.next === 'ask') return { next: 'ask' };
  if (policy.next === 'mend') {
    const tries = runs.filter(({ reason }) => reason === failure.reason).length;
    const most = failure.reason === 'merge-failed' ? MERGE_TRIES : task.pr.tries;
    if (tries <= most) return { next: 'retry', delayMs: 0 };
    return { next: 'park', reason: failure.reason, message: `${failure.message} (after ${most} more tries)` };
  }
  if (policy.next === 'park') return { next: 'park', ...failure };
  if (policy.next === 'reclaim') {
    const faults = faultsInARow(runs);
    if (faults > MOST_WAITS)
      return { next: 'park', reason: failure.reason, message: `${failure.message} (${faults} times in a row)` };
    const losses = runs.filter(({ reason }) => reason === 'host-lost' || reason === 'unclean-kill');
    const met = failure.reason === 'machine-fault' ? (metAt(runs)?.workers ?? []) : [];
    const last = met.length > 0 ? runs.slice(-1) : [];
    const workers = [...new Set([...met, ...[...last, ...losses].map((run) => run.worker)])];
    return workers.length >= LOST_WORKERS || losses.length >= MOST_LOSSES
      ? { next: 'park', reason: 'poison', message: `${FAILURES.poison.meaning}: ${workers.join(', ')}` }
      : { next: 'retry', delayMs: pauseAfter(Math.max(faults, losses.length)) };
  }
  if (policy.attempt && used >= task.retry.maxAttempts) {
    return {
      next: 'park',
      reason: failure.reason,
      message: `${failure.message} (attempt ${used} of ${task.retry.maxAttempts})`,
    };
  }
  if (policy.next === 'wait') {
    const waits = inARow(runs);
    if (waits > (failure.reason === 'disk' ? MOST_DISK_WAITS : MOST_WAITS))
      return { next: 'park', reason: failure.reason, message: `${failure.message} (${waits} times in a row)` };
    const until = failure.until ? Date.parse(failure.until) - nowMs : Number.NaN;
    const pauseMs = Math.min(LONGEST_BACKOFF_MS, PAUSE_MS * 2 ** Math.max(0, waits - 1));
    // A reset time that keeps lying in the past, or near, is no reason to start an agent every second.
    const leastMs = waits > 3 ? pauseMs : 5_000;
    return { next: 'retry', delayMs: until > 0 ? Math.min(LONGEST_WAIT_MS, Math.max(leastMs, until)) : pauseMs };
  }
  return {
    next: 'retry',
    delayMs: Math.min(LONGEST_BACKOFF_MS, toMs(task.retry.backoff) * 2 ** Math.max(0, used - 1)),
  };
}

/** None after the first loss: another worker may be free. */
const pauseAfter = (losses: number): number => (losses > 1 ? Math.min(PAUSE_MS, 5_000 * 2 ** (losses - 2)) : 0);

/** Runs at the end that a machine failed. The worker says so only where it is none of the task's doing: that is no loss. */
const faultsInARow = (runs: readonly RunView[]): number =>
  runs.length - 1 - runs.findLastIndex(({ reason }) => reason !== 'machine-fault');

/**
 * What runs met, since the task last got further, that may be their workers' own. A worker that found its own machine at fault
 * takes no work until that is mended: it need not be left out as well.
 */
export function metAt(runs: readonly RunView[]): Met | undefined {
  const since = runs.findLastIndex(({ reason }) => reason === null || !('local' in FAILURES[reason]));
  const met = runs.slice(since + 1).filter(({ reason, local }) => local || reason !== 'machine-fault');
  const last = met.at(-1);
  if (!last) return undefined;
  return {
    workers: [...new Set(met.map(({ worker }) => worker))],
    runs: met.length,
    at: last.endedAt ?? last.startedAt,
  };
}

/** Runs at the end that met what only waiting or another credential mends. */
const inARow = (runs: readonly RunView[]): number =>
  runs.length -
  1 -
  runs.findLastIndex(({ reason }) => reason === null || !(reason === 'auth' || FAILURES[reason].next === 'wait'));

/** Attempts are runs that ended by something the agent caused, since a person last said `retry`. */
export const attemptsUsed = (runs: readonly RunView[]): number => runs.filter((run) => run.counts).length;

/**
 * What the run behind `runs` may go on from: those before it, since the last one whose work is not to be used again. The
 * conversation goes on too, but for one that outgrew the model, and one that was gone on with and came to the same end again.
 */
export function resumeFrom(task: Pick<Task, 'resume'>, runs: readonly RunView[]): ResumeFrom | null {
  const usable = ({ reason, local }: RunView) =>
    reason !== null && (task.resume ?? (local === true || 'resume' in FAILURES[reason]));
  const from = runs
    .slice(runs.findLastIndex((run) => !usable(run)) + 1)
    .filter(isThere)
    .reverse();
  const [newest] = from;
  if (!newest?.reason) return null;
  const spent = from.flatMap((run) => {
    if (run.reason === 'context-overflow') return [run.runId];
    const before = run.sameSession && runs.find(({ runId }) => runId === run.resumedFrom);
    const nowhere = before && before.reason === run.reason && run.reason && FAILURES[run.reason].attempt;
    return nowhere ? [run.runId, before.runId] : [];
  });
  return { runIds: from.map(({ runId }) => runId), why: newest.message ?? newest.reason, spent };
}

/** What a worker's preparation says of where a run starts. */
export interface StartedFrom {
  /** The run whose saved work was found and laid out. */
  resumed?: string | null;
  /** Its conversation goes on. */
  session?: boolean;
}

/** Where the last of the runs started: also that it was to go on from saved work, and that was not there. */
export function startOf(
  { resumed = null, session = false }: StartedFrom,
  { resume, runs }: { resume: ResumeFrom | null; runs: readonly RunView[] },
): Pick<RunView, 'resumedFrom' | 'sameSession' | 'startedWithout'> {
  const before = runs.at(-2);
  const wanted =
    resume?.runIds.find((id) => runs.some(({ runId, saved }) => runId === id && saved !== null)) ??
    (before && !isThere(before) ? before.runId : undefined);
  return {
    resumedFrom: resumed,
    sameSession: session,
    ...(resumed === null && wanted !== undefined ? { startedWithout: wanted } : {}),
  };
}

/** Whether what was saved of it may still be found: on its worker, or at the repository's remote. */
export const isThere = ({ savedGone, saved }: Pick<RunView, 'savedGone' | 'saved'>): boolean =>
  savedGone === undefined || saved?.pushed === true;

/** What the next run's prompt says of the earlier ones: the reasons that are the agent's to mend, newest last. */
export function feedbackOf(runs: readonly { reason: Reason | null; message: string | null }[]): string[] {
  return runs
    .flatMap((run) => (run.reason && run.message && FAILURES[run.reason].feedback ? [run.message] : []))
    .slice(-3);
}
