import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { ApprovalSaid } from '../../domain/people/waiting.ts';
import { alertByAnyone } from '../state/alert.ts';
import type { Approvals } from '../people/approval.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { handOff } from '../people/follow-ups.ts';
import { machineFaultIn } from '../worker/worker-activities.ts';
import { deliverByMerge } from './merge.ts';
import { outlastFault } from '../claim/outlast-fault.ts';
import { deliverByPullRequest } from './pull-request.ts';

/** What becomes of an accepted result that was kept, without a slot: a person's yes, the branch, and what follows it. */
export async function settleResult(task: Task, record: TaskRecord, approvals: Approvals): Promise<Failure | undefined> {
  const { kept: accepted } = record.results;
  if (!accepted) throw new Error('no accepted result');
  let approval: ApprovalSaid | undefined;
  if (accepted.approve) {
    const said = await approvals.ask('before-deliver', accepted.approve, {
      word: accepted.word,
      withinMs: accepted.approveWithinMs,
    });
    if (!said.approved) {
      record.results.refused(record.view.commit);
      return { reason: 'not-approved', message: said.why || `${said.by} did not approve it` };
    }
    approval = { by: said.by, why: said.why, what: accepted.approve, said: said.at };
    accepted.approve = null;
    if (accepted.proposed) await handOff({ task, record }, accepted.proposed);
  }
  const failure =
    accepted.delivered || !record.view.commit
      ? undefined
      : await deliverKept(task, record, { run: accepted, wait: true, approval });
  return failure ?? followBranch(task, record);
}

/** What follows a delivered branch. */
export async function followBranch(task: Task, record: TaskRecord): Promise<Failure | undefined> {
  if (!record.view.branch) return undefined;
  if (task.deliver === 'pr') return deliverByPullRequest(task, record);
  return task.deliver === 'merge' ? deliverByMerge(task, record) : undefined;
}

/** A worker's restart is waited for anyway; beyond that it may take its owner so long. */
const [RESTART, RETURN] = ['30s', '12h'] as const;

/**
 * Delivers what a run left, from the worker that keeps it. Where that does not answer and `wait` says so, people are told, and
 * it is waited for.
 */
export async function deliverKept(
  task: Task,
  record: TaskRecord,
  {
    run,
    wait,
    approval,
  }: {
    run: { runId: string; hostQueue: string; worker: string };
    wait: boolean;
    /** A person's yes, for the receipts. */
    approval?: ApprovalSaid | undefined;
  },
): Promise<Failure | undefined> {
  if (task.deliver === 'none') return undefined;
  record.enter('delivering');
  const on = (scheduleToStartTimeout: typeof RESTART | typeof RETURN) =>
    proxyActivities<Activities>({
      taskQueue: run.hostQueue,
      summary: 'deliver what a person accepted',
      // While people have stopped the fleet it waits.
      startToCloseTimeout: '60d',
      heartbeatTimeout: '12s',
      scheduleToStartTimeout,
      retry: { maximumAttempts: 3 },
      // What was delivered must be known.
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    });
  const order = {
    ...{ taskId: record.view.id, runId: run.runId },
    ...record.results.replacing(record.view.commit),
    ...(approval ? { approval } : {}),
  };
  const bring = (patience: typeof RESTART | typeof RETURN) =>
    outlastFault(() =>
      on(patience)
        .deliverRescued(order)
        .catch((error: unknown) => undelivered(error, run.worker)),
    );
  let delivered = await bring(RESTART);
  if ('silent' in delivered && wait) {
    record.say(`${delivered.silent}: it is waited for`);
    const telling = new CancellationScope();
    void telling.run(() => alertByAnyone(record.view));
    delivered = await bring(RETURN).finally(() => telling.cancel());
  }
  if ('silent' in delivered) return { reason: 'repo-unavailable', message: delivered.silent };
  if (!delivered.ok) return delivered.failure;
  record.delivered(delivered, run.hostQueue);
  return undefined;
}

/** `silent`: nothing was heard of the worker; anything else it has said itself. */
function undelivered(error: unknown, worker: string): { silent: string } | { ok: false; failure: Failure } {
  if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  const leaving = cause instanceof ApplicationFailure && cause.type === 'WorkerShutdown';
  if (leaving || cause instanceof TimeoutFailure)
    return { silent: `worker ${worker}, which keeps the result, does not answer` };
  const message = `worker ${worker} could not deliver the result: ${cause?.message ?? error.message}`;
  return { ok: false, failure: machineFaultIn(cause) ?? { reason: 'repo-unavailable', message } };
}
