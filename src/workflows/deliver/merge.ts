import { CancellationScope, condition, isCancellation, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { DeliveryServices } from '../../activities/services/delivery-services.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import { mergedTask, type MergeAnswer } from '../../domain/deliver/merge.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { mergedSignal } from '../messages.ts';

const desk = proxyLocalActivities<DeliveryServices>({ startToCloseTimeout: '30s', localRetryThreshold: '10s' });
/** Somebody may have ended the queue's workflow. */
const ASK_AGAIN = '1h';
/** A push under way comes to its end within it, or is given up. */
const LEAVING = '15s';

type End = Exclude<MergeAnswer, { place: number } | { left: true }>;

/**
 * Has the branch that was delivered merged by the merge queue of its target, and waits for that without a slot. Undefined: it
 * is merged. A failure that is to be mended leaves the task on the commit that its result did not go with. Where the task is
 * cancelled, and its result was merged all the same, that stands.
 */
export async function deliverByMerge(task: Task, record: TaskRecord): Promise<Failure | undefined> {
  const { view } = record;
  const { id, commit, runs } = view;
  const { repo, into = '' } = task;
  if (!repo || !commit) return undefined;
  if (!into) return { reason: 'invalid-task', message: 'into is required for deliver: merge' };
  let end: End | undefined;
  let left = false;
  setHandler(mergedSignal, (answer) => {
    if ('left' in answer) left = true;
    else if (!('place' in answer)) end = answer;
    else if (!end) {
      view.merge = { into, place: answer.place };
      record.say(`place ${answer.place} in the merge queue of ${into}`);
    }
  });
  record.enter('awaiting-checks');
  record.say(`waits for the merge queue of ${into}`);
  const queue = { repo, into, queue: view.queue, machine: task.machine ?? null };
  const entry = {
    ...{ id, commit, task: mergedTask({ ...task, priority: view.priority }) },
    ...{ hostQueue: runs.at(-1)?.hostQueue ?? '', at: new Date().toISOString() },
  };
  try {
    do await desk.joinMergeQueue({ queue, entry });
    while (!(await condition(() => end !== undefined, ASK_AGAIN)));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(async () => {
      const there = await desk.leaveMergeQueue({ queue, id }).catch(() => undefined);
      if (there === false) return;
      if (!(await condition(() => left || end !== undefined, LEAVING))) record.cancelled = unknown(into);
    });
    view.merge = null;
    if (!end?.merged) throw error;
  }
  return settled(end as End, { record, into });
}

const unknown = (into: string): Failure => ({
  reason: 'cancelled',
  message: `it was cancelled while it may have been merged into ${into}, and nobody who knows has answered: look there`,
});

function settled(end: End, { record, into }: { record: TaskRecord; into: string }): Failure | undefined {
  const { view } = record;
  view.merge = null;
  if (end.merged) {
    view.merged = { into, commit: end.commit };
    return undefined;
  }
  if (end.reason !== 'merge-failed') return { reason: end.reason, message: end.message, lasting: true };
  view.base = end.target;
  return { reason: 'merge-failed', message: end.message };
}
