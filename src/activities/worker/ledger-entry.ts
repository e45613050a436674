import { Context } from '@temporalio/activity';
import { isDiskTrouble } from '../../adapters/disk/free-space.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Deps } from './context.ts';

/**
 * Keeps in the worker's ledger that the server's history has come as far as this activity, once what was kept before was
 * compared: the newest entry alone is looked at later. A full disk may miss it.
 */
export async function noteWork(
  { ledger, registry, rollback }: Pick<Deps, 'ledger' | 'registry' | 'rollback'>,
  ref: RunRef,
): Promise<void> {
  const record = registry.find(ref);
  if (!record) return;
  // A server that is silent now has just given this activity.
  await rollback.look().catch(() => undefined);
  const { activityType, activityId, scheduledTimestampMs } = Context.current().info;
  const { taskId, workflowRunId, n } = record;
  const at = new Date(scheduledTimestampMs).toISOString();
  try {
    ledger.note({ taskId, workflowRunId, n, activityType, activityId, at });
  } catch (error) {
    if (!isDiskTrouble(error)) throw error;
  }
}
