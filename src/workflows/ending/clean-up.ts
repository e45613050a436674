import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { ForgetInput } from '../../activities/save/clean-up-task.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { oweTo } from '../worker/worker-activities.ts';

/** People do not wait longer for a worker that is gone, or hangs, or whose remote does: it does so later. */
const PATIENCE = { cancelled: '6s', failed: '12s', done: '12s' } as const;

/**
 * Has removed what was kept for other machines to go on from, once nobody will: by the worker of the last run, which owes it
 * where it did not just now. A run that was cancelled does so itself as it is
 * released, once it was prepared.
 */
export async function cleanUpTask(record: TaskRecord, ending: ForgetInput['ending']): Promise<void> {
  const { id, runs, dependsOn, repo } = record.view;
  const run = runs.at(-1);
  const wasPrepared = run?.sameSession !== undefined;
  if (!run?.endedAt || (run.reason === 'cancelled' && wasPrepared)) return;
  if (!repo || (dependsOn.length < 2 && !runs.some(({ saved }) => saved))) return;
  // The person who accepted it must not see it parked again, nor decide twice.
  if (ending === 'done' && record.view.state === 'parked') record.enter('delivering');
  const host = proxyActivities<Activities>({
    taskQueue: run.hostQueue,
    summary: 'forget the work of before',
    scheduleToCloseTimeout: PATIENCE[ending],
    retry: { maximumAttempts: 1 },
  });
  await CancellationScope.nonCancellable(async () => {
    const done = await host.cleanUpTask({ taskId: id, ending, repo }).catch(() => false);
    if (!done) await oweTo(run.hostQueue, { taskId: id, runId: run.runId, forget: ending, repo });
  });
}
