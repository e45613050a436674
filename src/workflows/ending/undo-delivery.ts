import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import { branchOf } from '../../domain/names.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { cleanUpTask } from './clean-up.ts';
import { outsideCalls } from '../state/external-calls.ts';

/** Cleans up after a cancelled task; needs no slot. */
export async function undoDelivery(task: Task, record: TaskRecord): Promise<void> {
  await Promise.all([cleanUpTask(record, 'cancelled'), withdraw(task, record)]);
}

/** Each, as people and other tasks do not wait longer for what does not answer. */
const PATIENCE = '8s';

/**
 * Closes its pull request and removes its branch, as long as they are where its own delivery has
 * brought them, and as far as GitHub and the worker that has brought it there answer.
 */
async function withdraw({ repo, deliver }: Task, { view, results }: TaskRecord): Promise<void> {
  const { id, merged } = view;
  const { branch } = results;
  if (!repo || !branch || merged || (deliver !== 'pr' && deliver !== 'merge')) return;
  const { commit, hostQueue: taskQueue } = branch;
  const limits = {
    startToCloseTimeout: '10s',
    scheduleToCloseTimeout: PATIENCE,
    retry: { maximumAttempts: 1 },
  } as const;
  await CancellationScope.nonCancellable(async () => {
    const calls = outsideCalls({ ...limits, summary: 'close its pull request' });
    if (deliver === 'pr') await calls.closePull({ repo, branch: branchOf(id), commit }).catch(() => undefined);
    const host = proxyActivities<Activities>({ ...limits, taskQueue, summary: 'remove its branch' });
    await host.withdrawResult({ taskId: id, commit }).catch(() => undefined);
  });
}
