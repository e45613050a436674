import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { TaskAlert } from '../../activities/services/send-alert.ts';
import type { Activities } from '../../activities/index.ts';
import { inboxItem } from '../../domain/list/inbox.ts';
import type { TaskView } from '../../domain/view/task-view.ts';

/**
 * Tells people that a task waits for them: by the worker of the last run, or where that is gone by any, for as long as
 * the task is parked.
 */
export async function alert(view: TaskView): Promise<void> {
  const run = view.runs.at(-1);
  const said = saidOf(view);
  if (run) {
    const host = proxyActivities<Activities>({ ...OPTIONS, taskQueue: run.hostQueue, scheduleToCloseTimeout: '30s' });
    try {
      return await host.sendAlert(said);
    } catch (error) {
      if (isCancellation(error)) return;
    }
  }
  await alertByAnyone(view, said);
}

/** The same where the worker of the last run is known to be silent. */
export async function alertByAnyone(view: TaskView, said = saidOf(view)): Promise<void> {
  const anyone = proxyActivities<Activities>({ ...OPTIONS, taskQueue: view.queue, retry: { maximumInterval: '10m' } });
  await anyone.sendAlert(said).catch(() => undefined);
}

const OPTIONS = { summary: 'alert', startToCloseTimeout: '1m' } as const;

function saidOf(view: TaskView): TaskAlert {
  const { id, title, state, reason, message, question, approval, approvals = [] } = view;
  // After a no, the same is asked for again.
  const what = question?.id ?? (approval ? `${approval.stage}/${approvals.length}` : (reason ?? state));
  return {
    ...{ key: `${id}/${view.runs.at(-1)?.n ?? 0}/${what}`, id, title, state, reason, message },
    ...(question ? { question } : {}),
    ...(approval ? { approval } : {}),
    commands: inboxItem(view)?.commands ?? [],
  };
}
