import type { RunRecord } from '../../adapters/state/run-record.ts';
import { FAILURES, type Failure } from '../../domain/agent/failure.ts';
import type { Launched } from '../../domain/view/task-view.ts';
import { isPath } from '../../domain/repository/repository-name.ts';
import type { Deps } from '../worker/context.ts';

/** What a run has met is told to its credential. `moves` on what comes back: the task need not wait, or be held, for that. */

/** After the agent's end. */
export async function tellOutcome(deps: Deps, record: RunRecord, launched: Launched): Promise<Launched> {
  if (!launched.ok || record.credential === null) return launched;
  const { taskId, runId, credential } = record;
  const { outcome } = launched;
  if (outcome.quota) await deps.seats.report(credential, { taskId, runId, why: '', kind: 'used', ...outcome.quota });
  const reason = outcome.stopped ? undefined : outcome.ended?.failure;
  if (!reason) return launched;
  const { claim, until } = outcome;
  const moves = await tell(deps, record, {
    ...{ reason, message: claim || FAILURES[reason].meaning },
    ...(until ? { until } : {}),
  });
  return moves ? { ok: true, outcome: { ...outcome, moves } } : launched;
}

/** Before the agent was started. */
export async function tellRefused(deps: Deps, record: RunRecord, failure: Failure): Promise<Failure> {
  if (failure.moves) return failure;
  const moves = await tell(deps, record, failure);
  return moves ? { ...failure, moves } : failure;
}

async function tell(
  { seats, worker }: Deps,
  { taskId, runId, coder, credential, prepared }: RunRecord,
  met: Pick<Failure, 'reason' | 'message' | 'until'>,
): Promise<boolean> {
  if (credential === null) return false;
  const said = { taskId, runId, why: met.message };
  if (met.reason === 'rate-limited') {
    await seats.report(credential, { ...said, kind: 'limited', ...(met.until ? { until: met.until } : {}) });
    // Its next claim waits until any worker has a seat of that coder.
    return true;
  }
  if (met.reason !== 'auth') return false;
  await seats.report(credential, { ...said, kind: 'refused' });
  const task = prepared?.task;
  if (!task || task.credential !== undefined) return false;
  const machine = isPath(task.repo) ? worker.machine : undefined;
  return seats.others({ credential, coder, queue: task.queue, machine });
}
