import type { Failure } from './execution.ts';

export const TIMEOUT = { START_TO_CLOSE: 1, SCHEDULE_TO_START: 2, SCHEDULE_TO_CLOSE: 3, HEARTBEAT: 4 } as const;
export type TimeoutType = keyof typeof TIMEOUT;

/** What an activity of the simulation throws. */
export class ActivityError extends Error {
  readonly type: string;
  readonly nonRetryable: boolean;
  readonly nextRetryMs: number | undefined;
  constructor(type: string, options: { nonRetryable?: boolean; nextRetryMs?: number } = {}) {
    super(type);
    this.type = type;
    this.nonRetryable = options.nonRetryable ?? false;
    this.nextRetryMs = options.nextRetryMs;
  }
}
/** Thrown by an activity that was cancelled and says so. */
export class Cancelled extends Error {}

export const timeoutFailure = (type: TimeoutType): Failure => ({
  message: `activity ${type} timeout`,
  timeoutFailureInfo: { timeoutType: TIMEOUT[type] },
});
export const applicationFailure = ({ type, nonRetryable, message }: ActivityError): Failure => ({
  message,
  applicationFailureInfo: { type, nonRetryable },
});
export const CANCELLED: Failure = { message: 'cancelled', canceledFailureInfo: {} };

/** As the server wraps what ended an activity. */
export const activityFailure = (cause: Failure, of: { type: string; id: number; retryState: number }): Failure => ({
  message: cause.canceledFailureInfo ? 'Activity cancelled' : 'Activity task failed',
  cause,
  activityFailureInfo: { activityType: { name: of.type }, activityId: String(of.id), retryState: of.retryState },
});
