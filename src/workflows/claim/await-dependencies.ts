import { condition, proxyLocalActivities } from '@temporalio/workflow';
import type { TaskServices } from '../../activities/services/task-services.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import { standing } from '../../domain/scheduling/dependencies.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { TaskRecord } from '../state/task-record.ts';

/** Between looks at one that could not be told that it is waited for, and is open all the same. */
const AGAIN = '1m';
/** Between looks at the others: one that was terminated says nothing. */
const LOOK = '1h';

/**
 * Waits until all that the task depends on have ended well, or its policy says otherwise. `late`: a late result came in.
 * A failure: one of them did not end well. @throws CancelledFailure where the task is to be cancelled for that
 */
export async function awaitDependencies(task: Task, record: TaskRecord): Promise<'go' | 'late' | Failure> {
  const { dependencies } = record;
  for (;;) {
    dependencies.changed = false;
    const all = await dependencies.ask();
    const stands = standing(dependencies.list, task.onDependencyFailure);
    if (stands.next === 'go') {
      if (record.view.state === 'blocked') record.enter('queued');
      return 'go';
    }
    if (stands.next === 'park') return { reason: 'dependency-failed', message: stands.message };
    if (stands.next === 'cancel') {
      record.cancelled = { reason: 'dependency-failed', message: stands.message };
      const { cancelTask } = proxyLocalActivities<TaskServices>({ startToCloseTimeout: '30s', summary: 'cancel' });
      await cancelTask(record.view.id);
      await condition(() => false);
    }
    record.wait('blocked', stands.message);
    const woken = () => dependencies.changed || record.candidate !== undefined;
    if (!all) await condition(woken, AGAIN);
    else if (!(await condition(woken, LOOK))) await dependencies.look();
    if (record.candidate) return 'late';
  }
}
