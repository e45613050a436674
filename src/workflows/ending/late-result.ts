import { isCancellation } from '@temporalio/workflow';
import type { Failure } from '../../domain/agent/failure.ts';
import type { LateResult, RunView, TaskView, Verified } from '../../domain/view/task-view.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { deliverResult } from '../deliver/deliver.ts';
import { WorkerActivities, WorkerLost } from '../worker/worker-activities.ts';
import { shortened } from '../state/initial-view.ts';
import { verifyRun } from '../verify/verify.ts';

/**
 * Puts the late result of a lost worker, if there is one, through its receipts: neither trusted nor thrown away.
 * It was accepted, and is `delivered`, or `kept` for what is still to be done with it. A failure: it was accepted and could
 * not be delivered. Else the task is where it was before.
 */
export async function settleLate(task: Task, record: TaskRecord): Promise<'delivered' | 'kept' | Failure | undefined> {
  const run = record.candidate;
  const claim = run && record.claimOf(run);
  if (!claim) return undefined;
  const goBack = record.snapshotState();
  try {
    const end = await settle(WorkerActivities.of(record.view.id, claim), { task, record, run });
    if (typeof end === 'string') return end;
    goBack();
    return end;
  } catch (error) {
    if (isCancellation(error)) throw error;
    // Gone again, or stopped: it tells of the run anew when it is back. One that is there and cannot do it would tell for ever.
    run.late = error instanceof WorkerLost && (error.stopped || !error.answers) ? null : 'rejected';
    goBack();
    return undefined;
  }
}

async function settle(
  host: WorkerActivities,
  { task, record, run }: { task: Task; record: TaskRecord; run: RunView },
): Promise<'delivered' | 'kept' | Failure | undefined> {
  record.enter('verifying');
  const verified = await verifyRun(host, record, (found) => {
    noteVerdict(run, found);
    record.results.note(found);
  });
  if ('failure' in verified) {
    run.late = 'rejected';
    return undefined;
  }
  if (!verified.verdict.accepted) return undefined;
  const end = await deliverResult(host, { task, record, verified, run, proposed: null });
  const failure = typeof end === 'string' ? undefined : end;
  // Neither used an attempt.
  Object.assign(run, { late: null, reason: failure?.reason ?? null, message: failure?.message ?? null });
  const { verdict, receipts, commit } = verified;
  if (!failure) Object.assign(record.view, { verdict, receipts, commit });
  return end;
}

/** From a worker that was lost and came back, of a run that ended as lost; of any other it is only noted as saved. */
export function noteLate({ runs }: TaskView, { runId, saved, finished }: LateResult): void {
  const run = runs.find((other) => other.runId === runId);
  if (!run?.endedAt) return;
  run.saved = saved ?? run.saved;
  if (finished && run.reason === 'host-lost' && run.late === null) run.late = 'candidate';
}

/** From somebody who had the saved work of runs removed. */
export function noteGone({ runs }: TaskView, { runIds, at }: { runIds: readonly string[]; at: string }): void {
  for (const run of runs) if (runIds.includes(run.runId)) run.savedGone = at;
}

function noteVerdict(run: RunView, { verdict, receipts, commit }: Verified): void {
  Object.assign(run, { commit, receipts: shortened(receipts) });
  if (!verdict.accepted) run.late = 'rejected';
}

/** The task is done by another run: what is still on its way comes too late. */
export function supersedeLate({ runs }: TaskView): void {
  for (const run of runs) if (run.late === 'candidate') run.late = 'superseded';
}
