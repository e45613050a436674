import { Context } from '@temporalio/activity';
import { isDiskTrouble } from '../adapters/space.ts';
import type { RunRef } from '../domain/run.ts';
import type { Deps } from './context.ts';

/** Keeps in the worker's ledger that the server's history has come as far as this activity. A full disk may miss it. */
export function noteWork({ ledger, registry }: Pick<Deps, 'ledger' | 'registry'>, ref: RunRef): void {
  const record = registry.find(ref);
  if (!record) return;
  const { activityType, activityId } = Context.current().info;
  const { taskId, workflowRunId, n } = record;
  try {
    ledger.note({ taskId, workflowRunId, n, activityType, activityId, at: new Date().toISOString() });
  } catch (error) {
    if (!isDiskTrouble(error)) throw error;
  }
}
