import { Context } from '@temporalio/activity';
import { isDiskTrouble } from '../adapters/space.ts';
import type { RunRef } from '../domain/run.ts';
import type { Deps } from './context.ts';

/** Whether the server's database is still the one that this worker worked with. */
export interface RollbackCheck {
  /** Some worker has noticed that it is an older copy: what the server says of a run is no reason to end it. */
  readonly noticed: boolean;
  /** Asks the server, after this was called: `noticed` and the worker's holds are of now. @throws where it does not answer */
  look(): Promise<void>;
  /** The same for a run that the server wants to be claimed. @throws also while other workers have yet to look */
  lookBeforeClaim(run: { workflowRunId: string; n: number }): Promise<void>;
}

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
