import {
  ActivityFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { claimQueue, priorityKey } from '../domain/names.ts';
import { factsOf, type Choice } from '../domain/route.ts';
import type { Claim, ClaimAnswer, TriageAsk } from '../domain/run.ts';
import type { Task } from '../domain/task.ts';
import type { Triaged } from '../domain/triage.ts';
import type { TaskBook } from './book.ts';

/** So long a task waits for a worker with the coder that a rule leads to; then the rules are asked again. */
const REDIRECTED = '1h';
const MARGIN_MS = 10_000;

/**
 * A slot on some worker, for as long as it takes; undefined where a late result came in while it waited. The worker that
 * claims first says by its rules what the run is to use. Where that is not there, the task waits for a worker that has it.
 */
export async function claimSlot(task: Task, book: TaskBook): Promise<Claim | undefined> {
  let chosen: Choice | undefined;
  for (;;) {
    const queue = chosen ? pinnedTo(book.unpinned, chosen.coder) : book.unpinned;
    const answer = await ask(task, book, { queue, chosen });
    if (answer === 'late') return undefined;
    if (answer === 'nobody') {
      chosen = undefined;
      book.redirected(null);
    } else if ('triage' in answer) {
      book.triaged(await triage(task, book, answer.triage));
    } else {
      if (answer.triaged) book.triaged(answer.triaged);
      if (!('redirect' in answer)) return answer;
      chosen = answer.redirect;
      book.redirected({ ...chosen, claimQueue: pinnedTo(book.unpinned, chosen.coder) });
    }
  }
}

const pinnedTo = (queue: string, coder: string): string => claimQueue({ queue, coder });

async function ask(
  task: Task,
  book: TaskBook,
  { queue, chosen }: { queue: string; chosen: Choice | undefined },
): Promise<ClaimAnswer | 'late' | 'nobody'> {
  const { registerRun } = proxyActivities<Activities>({
    taskQueue: queue,
    summary: 'wait for a slot',
    startToCloseTimeout: '3s',
    ...(chosen ? { scheduleToStartTimeout: REDIRECTED } : {}),
    retry: { initialInterval: '1s', backoffCoefficient: 1.5, maximumInterval: '10s' },
    allowEagerDispatch: false,
    priority: { priorityKey: priorityKey(task.priority) },
  });
  const { coder = chosen?.coder, model = chosen?.model } = task;
  const { triaged, attempts } = book.view;
  const order = {
    ...{ taskId: book.view.id, n: book.nextRun },
    ...(coder ? { coder } : {}),
    ...(model ? { model } : {}),
    ...(task.credential ? { credential: task.credential } : {}),
    facts: { ...factsOf(task, attempts.used + 1), ...(triaged ? { class: triaged.class } : {}) },
    ...(chosen ? { chosen } : {}),
  };
  const waiting = new CancellationScope();
  const claimed = waiting.run(() => registerRun(order));
  const late = condition(() => book.candidate !== undefined).then(() => waiting.cancel());
  try {
    return await Promise.race([claimed, late.then(() => claimed)]);
  } catch (error) {
    if (chosen && timedOut(error)) return 'nobody';
    if (!isCancellation(error) || CancellationScope.current().consideredCancelled) throw error;
    return 'late';
  }
}

const timedOut = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  error.cause instanceof TimeoutFailure &&
  error.cause.timeoutType === 'SCHEDULE_TO_START';

/** Never fails: a worker that is gone, or takes too long, leaves the default. */
async function triage(task: Task, book: TaskBook, asked: TriageAsk): Promise<Triaged> {
  const { triageTask } = proxyActivities<Activities>({
    taskQueue: asked.hostQueue,
    summary: 'triage',
    scheduleToCloseTimeout: asked.timeoutMs + MARGIN_MS,
    retry: { maximumAttempts: 1 },
  });
  try {
    return await triageTask({ taskId: book.view.id, task });
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { class: asked.default, by: `triage.default, as worker ${asked.worker} did not say` };
  }
}
