import {
  ActivityCancellationType,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { Failure, Reason } from '../domain/failure.ts';
import type { TaskView } from '../domain/run.ts';
import type { Task } from '../domain/task.ts';
import type { TaskBook } from './book.ts';
import { settleLate } from './late.ts';
import { acceptUpdate, giveUpUpdate, lateResultSignal, retryUpdate, viewQuery } from './messages.ts';

export interface Person {
  /** What a person last decided about the parked task; taken once. */
  take(): NonNullable<TaskView['decision']> | undefined;
  waiting(): boolean;
}

/** Held for a person. True: the task is done by `accept`; false: run again. */
export async function park(
  task: Task,
  book: TaskBook,
  { decision, person }: { decision: { reason: Reason; message: string }; person: Person },
): Promise<boolean> {
  let held = decision;
  for (;;) {
    book.enter('parked', held);
    const alerting = new CancellationScope();
    void alerting.run(() => alert(book.view));
    await condition(() => person.waiting() || book.candidate !== undefined);
    alerting.cancel();
    const late = await settleLate(task, book);
    if (late === 'done') return true;
    if (late) held = late;
    const said = person.take();
    if (!said) continue;
    book.view.decision = said;
    if (said.action === 'give-up') {
      book.enter('failed', { reason: held.reason, message: `given up: ${said.why || held.message}` });
      throw ApplicationFailure.create({
        message: `${held.reason}: ${held.message}`,
        type: 'TaskFailed',
        nonRetryable: true,
        details: [book.view],
      });
    }
    if (said.action === 'retry') {
      book.forgive();
      book.queueAgain({ reason: held.reason, message: held.message }, 0);
      return false;
    }
    const failure = await deliverRescued(task, book);
    if (!failure) return true;
    held = failure;
  }
}

/** Delivers what a rejected run left, on a person's word, from the worker that kept it. */
async function deliverRescued(task: Task, book: TaskBook): Promise<Failure | undefined> {
  const run = book.rescued;
  if (!run?.commit) return { reason: 'repo-unavailable', message: 'no run of this task left a result to accept' };
  if (task.deliver === 'none') return undefined;
  book.enter('delivering');
  const { deliverRescued: deliver } = proxyActivities<Activities>({
    taskQueue: run.hostQueue,
    summary: 'deliver what a person accepted',
    startToCloseTimeout: '1h',
    heartbeatTimeout: '12s',
    scheduleToStartTimeout: '30s',
    retry: { maximumAttempts: 3 },
    // What was delivered must be known.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });
  try {
    const delivered = await deliver({ taskId: book.view.id, runId: run.runId });
    if (!delivered.ok) return delivered.failure;
    book.delivered(delivered.branch, delivered.commit);
    return undefined;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { reason: 'repo-unavailable', message: `worker ${run.worker}, which keeps the result, did not answer` };
  }
}

/**
 * Tells people that a task waits for them: by the worker of the last run, or where that is gone by any, for as long as
 * the task is parked.
 */
async function alert(view: TaskView): Promise<void> {
  const run = view.runs.at(-1);
  const { id, title, state, reason, message } = view;
  const said = { key: `${id}/${run?.n ?? 0}/${reason}`, id, title, state, reason, message };
  const options = { summary: 'alert', startToCloseTimeout: '1m' } as const;
  const host =
    run && proxyActivities<Activities>({ ...options, taskQueue: run.hostQueue, scheduleToCloseTimeout: '30s' });
  const anyone = proxyActivities<Activities>({ ...options, taskQueue: view.queue, retry: { maximumInterval: '10m' } });
  try {
    if (host) return await host.sendAlert(said);
  } catch (error) {
    if (isCancellation(error)) return;
  }
  await anyone.sendAlert(said).catch(() => undefined);
}

export function listenToPeople(book: TaskBook): Person {
  let decided: TaskView['decision'] = null;
  const onlyParked = (_said: { why: string }): void => {
    if (book.view.state !== 'parked')
      throw ApplicationFailure.nonRetryable(`the task is ${book.view.state}, not parked`, 'NotParked');
    if (decided) throw ApplicationFailure.nonRetryable(`somebody said ${decided.action} a moment ago`, 'NotParked');
  };
  const say = (action: NonNullable<TaskView['decision']>['action'], why: string): void => {
    decided = { action, why };
  };
  setHandler(viewQuery, () => book.view);
  setHandler(lateResultSignal, (late) => book.late(late));
  setHandler(retryUpdate, ({ why }) => say('retry', why), { validator: onlyParked });
  setHandler(giveUpUpdate, ({ why }) => say('give-up', why), { validator: onlyParked });
  setHandler(acceptUpdate, ({ why }) => say('accept', why), {
    validator: (said: { why: string }) => {
      onlyParked(said);
      if (!book.rescued)
        throw ApplicationFailure.nonRetryable('no run of this task left a result to accept', 'NothingToAccept');
    },
  });
  return {
    waiting: () => decided !== null,
    take: () => {
      const said = decided ?? undefined;
      decided = null;
      return said;
    },
  };
}
