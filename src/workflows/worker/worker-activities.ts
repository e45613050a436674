import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  TimeoutFailure,
  getExternalWorkflowHandle,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { Failure, Reason } from '../../domain/agent/failure.ts';
import { workerRecordId } from '../../domain/names.ts';
import { MACHINE_FAULT, STOPPED, type Owed } from '../../domain/worker/worker.ts';
import type { SecondWorker } from '../../domain/worker/second-verdict.ts';
import type { Released, RunEnding, RunRef } from '../../domain/view/task-view.ts';
import type { SavedWork } from '../../domain/agent/saved-work.ts';
import type { Claim } from '../../domain/run/claim.ts';
import { oweSignal } from '../messages.ts';

/** The worker that held a run is gone, or could not go on with it: nothing of it can have an effect, and it used no attempt. */
export class WorkerLost extends Error {
  /** Whether the worker still answers. */
  readonly answers: boolean;
  readonly failure: Failure;
  constructor(failure: Failure | string, { answers = false } = {}) {
    const known: Failure = typeof failure === 'string' ? { reason: 'host-lost', message: failure } : failure;
    super(known.message);
    this.answers = answers;
    this.failure = known;
  }

  /** A person stopped what it had started for the run. */
  get stopped(): boolean {
    return this.failure.reason === 'killed';
  }
}

export const lossOf = (error: unknown): Failure =>
  error instanceof WorkerLost ? error.failure : { reason: 'host-lost', message: messageOf(error) };

const PROBE_MS = 3_000;
const CANCELLED_MS = 12_000;

/**
 * The activities of a claimed run, on its worker's own queue. One attempt each, since the parked polls of a cut-off
 * worker swallow the retries. When one is lost, the worker is asked whether it still has the run: if so, the same
 * activity goes on there (each is idempotent by the run), else `WorkerLost` is thrown after the worker's grace.
 */
export class WorkerActivities {
  readonly ref: RunRef;
  readonly #claim: Claim;
  readonly #holds: boolean;

  private constructor(taskId: string, claim: Claim, holds: boolean) {
    this.ref = { taskId, runId: claim.runId };
    this.#claim = claim;
    this.#holds = holds;
  }

  /** The worker that holds the run. */
  static of(taskId: string, claim: Claim): WorkerActivities {
    return new WorkerActivities(taskId, claim, true);
  }

  /** Another worker that does something for the run and holds nothing of it: once lost, it is not asked again. */
  beside({ name, machine, hostQueue, lease }: SecondWorker): WorkerActivities {
    const claim = { ...this.#claim, worker: name, machine, hostQueue, lease };
    return new WorkerActivities(this.ref.taskId, claim, false);
  }

  async call<T>(summary: string, run: (activities: Activities) => Promise<T>): Promise<T> {
    const { hostQueue, lease } = this.#claim;
    const activities = proxyActivities<Activities>({
      summary,
      // Its own limits end it, and its heartbeat tells that it lives.
      startToCloseTimeout: '60d',
      taskQueue: hostQueue,
      heartbeatTimeout: lease.heartbeatMs,
      scheduleToStartTimeout: lease.heartbeatMs + lease.graceMs,
      retry: { maximumAttempts: 1 },
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    });
    for (;;) {
      try {
        return await run(activities);
      } catch (error) {
        if (isCancellation(error)) throw error;
        // Lost while it was to hear of the cancellation.
        if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('the task was cancelled');
        const cause = error instanceof ActivityFailure ? error.cause : error;
        if (cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START') {
          throw new WorkerLost(
            `worker ${this.#claim.worker} took no work for ${(lease.heartbeatMs + lease.graceMs) / 1_000} s`,
          );
        }
        if (!mayGoOn(cause)) {
          // It is there and could not do it: its slot is of no more use to this task.
          throw new WorkerLost(saidBy(this.#claim.worker, cause), { answers: true });
        }
        if (!this.#holds || !(await this.#stillHeld())) throw new WorkerLost(`worker ${this.#claim.worker} was lost`);
      }
    }
  }

  /** Frees the slot; not cancellable. What the run had made and did not deliver is saved first. */
  async release(ending: RunEnding, reason: Reason | null = null): Promise<SavedWork | null> {
    const { releaseRun } = proxyActivities<Activities>({
      taskQueue: this.#claim.hostQueue,
      summary: `release run ${this.ref.runId}`,
      startToCloseTimeout: '10m',
      heartbeatTimeout: this.#claim.lease.heartbeatMs,
      // A person who cancels does not wait for a worker that may be restarting: that one cleans up when it is back.
      scheduleToStartTimeout: ending === 'cancelled' ? CANCELLED_MS : this.#claim.lease.graceMs,
      retry: { maximumAttempts: 5 },
    });
    return CancellationScope.nonCancellable(async () => {
      try {
        const released: Released = await releaseRun({ ...this.ref, ending, reason });
        return released.saved;
      } catch {
        await this.owe();
        return null;
      }
    });
  }

  /** Notes with the worker's record what it has to clean up when it returns. */
  async owe(): Promise<void> {
    await oweTo(this.#claim.hostQueue, this.ref);
  }

  async #stillHeld(): Promise<boolean> {
    const { findRun } = proxyActivities<Activities>({
      taskQueue: this.#claim.hostQueue,
      summary: `is run ${this.ref.runId} still on ${this.#claim.worker}?`,
      startToCloseTimeout: PROBE_MS,
      scheduleToCloseTimeout: this.#claim.lease.graceMs,
      retry: { initialInterval: '500ms', backoffCoefficient: 1 },
    });
    try {
      return await findRun(this.ref);
    } catch (error) {
      if (isCancellation(error)) throw error;
      return false;
    }
  }
}

/** Notes with a worker's record what it has to do once it can; not cancellable. */
export async function oweTo(hostQueue: string, owed: Owed): Promise<void> {
  const record = getExternalWorkflowHandle(workerRecordId(hostQueue));
  await CancellationScope.nonCancellable(() => record.signal(oweSignal, owed).catch(() => undefined));
}

/** The worker restarts or was silent: ask it. Anything else that it threw is broken infrastructure there. */
function mayGoOn(cause: unknown): boolean {
  if (cause instanceof TimeoutFailure) return cause.timeoutType === 'HEARTBEAT';
  return cause instanceof ApplicationFailure && cause.type === 'WorkerShutdown';
}

/** What a worker said of its own machine by an exception. */
export function machineFaultIn(cause: unknown): Failure | undefined {
  if (!(cause instanceof ApplicationFailure) || cause.type !== MACHINE_FAULT) return undefined;
  return cause.details?.[0] as Failure | undefined;
}

/** What a step's exception says of the run, by its type. */
function saidBy(worker: string, cause: unknown): Failure {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  return (
    machineFaultIn(cause) ?? {
      reason: type === STOPPED ? 'killed' : 'host-lost',
      message: `worker ${worker}: ${messageOf(cause)}`,
    }
  );
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
