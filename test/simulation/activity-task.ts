import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { coresdk } from '@temporalio/proto';
import type { Timer } from './clock.ts';
import { fromPayload, toPayload, type Failure } from './execution.ts';
import {
  activityFailure,
  applicationFailure,
  CANCELLED,
  timeoutFailure,
  type ActivityError,
  type TimeoutType,
} from './failures.ts';
import type { Server } from './server.ts';
import type { WorkflowRecord } from './workflow-record.ts';

export type Ending = { ok: unknown } | { error: ActivityError } | { cancelled: true };

const RETRY = { none: 0, nonRetryable: 2, timeout: 3, attempts: 4, cancelled: 7 } as const;

/**
 * An activity as the server sees it.
 *
 *     queued ──► started ──► closed
 *        ▲          │ failed or timed out, attempts left
 *        └─ backoff ┘
 */
export class ActivityTask {
  state: 'queued' | 'started' | 'backoff' | 'closed' = 'queued';
  attempt = 1;
  cancelRequested = false;
  readonly type: string;
  readonly queue: string;
  readonly args: unknown[];
  readonly seq: number;
  readonly waitsForCancellation: boolean;
  readonly #limits;
  readonly #expiresAt: number;
  #timers: Timer[] = [];
  #heartbeat: Timer | undefined;

  readonly server: Server;
  readonly workflow: WorkflowRecord;

  constructor(server: Server, workflow: WorkflowRecord, command: coresdk.workflow_commands.IScheduleActivity) {
    this.server = server;
    this.workflow = workflow;
    const { retryPolicy } = command;
    this.seq = command.seq ?? 0;
    this.type = command.activityType ?? '';
    this.queue = command.taskQueue ?? '';
    this.args = (command.arguments ?? []).map((arg) => fromPayload(arg));
    this.waitsForCancellation = command.cancellationType === 1;
    const ms = (duration: Parameters<typeof optionalTsToMs>[0]) => optionalTsToMs(duration) || Infinity;
    this.#limits = {
      toStart: ms(command.scheduleToStartTimeout),
      toClose: ms(command.startToCloseTimeout),
      heartbeat: ms(command.heartbeatTimeout),
      attempts: retryPolicy?.maximumAttempts || Infinity,
      initial: optionalTsToMs(retryPolicy?.initialInterval) ?? 1_000,
      factor: retryPolicy?.backoffCoefficient ?? 2,
      longest: optionalTsToMs(retryPolicy?.maximumInterval) ?? 100_000,
    };
    const overall = ms(command.scheduleToCloseTimeout);
    this.#expiresAt = server.clock.now + overall;
    if (overall < Infinity)
      server.clock.after(overall, () => this.#fail(timeoutFailure('SCHEDULE_TO_CLOSE'), RETRY.timeout));
    this.#queue();
  }

  get key(): string {
    return `${this.workflow.id} ${this.type}#${this.seq}.${this.attempt}`;
  }
  /** Whether what a worker holds is still this attempt. */
  isAttempt(attempt: number): boolean {
    return this.state === 'started' && this.attempt === attempt;
  }

  started(): void {
    this.#clear();
    this.state = 'started';
    this.#timer(this.#limits.toClose, 'START_TO_CLOSE');
    this.silentSince(this.server.clock.now);
  }

  /** No heartbeat comes any more. A worker that can send them beats in time: only silence costs an event. */
  silentSince(at: number): void {
    this.#heartbeat?.cancel();
    if (this.#limits.heartbeat === Infinity) return;
    const left = at + this.#limits.heartbeat - this.server.clock.now;
    this.#heartbeat = this.server.clock.after(left, () => this.#timedOut('HEARTBEAT'));
  }
  beats(): void {
    this.#heartbeat?.cancel();
  }

  ended(attempt: number, ending: Ending): void {
    if (!this.isAttempt(attempt)) return;
    if ('ok' in ending) this.#resolve({ completed: { result: ending.ok === undefined ? null : toPayload(ending.ok) } });
    else if ('cancelled' in ending) this.#resolve({ cancelled: { failure: this.#wrap(CANCELLED, RETRY.none) } });
    else this.#retry(applicationFailure(ending.error), ending.error);
  }

  requestCancel(): void {
    if (this.state === 'closed' || this.cancelRequested) return;
    this.cancelRequested = true;
    const started = this.state === 'started';
    if (!started || !this.waitsForCancellation) {
      const failure = this.#wrap(CANCELLED, RETRY.none);
      this.workflow.push({ resolveActivity: { seq: this.seq, result: { cancelled: { failure } } } });
    }
    if (started) this.server.tell(this);
    else this.close();
  }

  close(): void {
    this.#clear();
    this.state = 'closed';
    this.server.closed(this);
  }

  #queue(): void {
    this.state = 'queued';
    this.#timer(this.#limits.toStart, 'SCHEDULE_TO_START');
    this.server.queued(this);
  }

  #timer(ms: number, type: TimeoutType): void {
    if (ms < Infinity) this.#timers.push(this.server.clock.after(ms, () => this.#timedOut(type)));
  }

  #timedOut(type: TimeoutType): void {
    this.server.say(`server: ${this.key} ${type} timeout`);
    if (type === 'SCHEDULE_TO_START') this.#fail(timeoutFailure(type), RETRY.timeout);
    else this.#retry(timeoutFailure(type));
  }

  #retry(failure: Failure, error?: ActivityError): void {
    const { attempts, initial, factor, longest } = this.#limits;
    const delay = error?.nextRetryMs ?? Math.min(longest, initial * factor ** (this.attempt - 1));
    if (this.cancelRequested) return this.#fail(failure, RETRY.cancelled);
    if (error?.nonRetryable) return this.#fail(failure, RETRY.nonRetryable);
    if (this.attempt >= attempts) return this.#fail(failure, RETRY.attempts);
    if (this.server.clock.now + delay > this.#expiresAt) return this.#fail(failure, RETRY.timeout);
    this.#clear();
    this.state = 'backoff';
    this.attempt++;
    this.server.tell(this);
    this.#timers.push(this.server.clock.after(delay, () => this.#queue()));
  }

  #fail(failure: Failure, retryState: number): void {
    if (this.state !== 'closed') this.#resolve({ failed: { failure: this.#wrap(failure, retryState) } });
  }

  #resolve(result: coresdk.activity_result.IActivityResolution): void {
    const told = this.cancelRequested && !this.waitsForCancellation;
    this.close();
    if (!told) this.workflow.push({ resolveActivity: { seq: this.seq, result } });
  }

  #wrap(cause: Failure, retryState: number): Failure {
    return activityFailure(cause, { type: this.type, id: this.seq, retryState });
  }

  #clear(): void {
    for (const timer of this.#timers.splice(0)) timer.cancel();
    this.#heartbeat?.cancel();
  }
}
