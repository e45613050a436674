import { setTimeout as pause } from 'node:timers/promises';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = ReturnType<typeof makeGrpcRetryInterceptor>;

const CALL_MS = 10_000;
/** The server keeps these waiting for news for 20 seconds by design. */
const LONG_POLL_MS = 40_000;
const LONG_POLLS = /\/(GetWorkflowExecutionHistory|UpdateWorkflowExecution|PollWorkflowExecutionUpdate)$/;
const RETRY_FOR_MS = 4_000;
const RETRY_MAX_MS = 500;

/**
 * How long the calls of a client's connection go on trying: some four seconds where the server fails them, which covers
 * its restart; ten where it is silent. `settle` comes before the connection is closed, as a retry on a closed one
 * would end the process.
 */
export function patientCalls(): { interceptors: Interceptor[]; settle(): Promise<void> } {
  const backoff = defaultGrpcRetryOptions({ maxAttempts: 100, maxIntervalMs: () => RETRY_MAX_MS });
  let settling = false;
  let nextRetry = 0;
  const patient: Interceptor = (options, nextCall) => {
    const ms = LONG_POLLS.test(options.method_definition.path) ? LONG_POLL_MS : CALL_MS;
    const began = performance.now();
    const retry = makeGrpcRetryInterceptor({
      retryableDecider: (attempt, status) =>
        !settling && performance.now() - began < RETRY_FOR_MS && backoff.retryableDecider(attempt, status),
      delayFunction: (attempt, status) => {
        const delay = backoff.delayFunction(attempt, status);
        nextRetry = Math.max(nextRetry, performance.now() + delay);
        return delay;
      },
    });
    return retry({ ...options, deadline: options.deadline ?? Date.now() + ms }, nextCall);
  };
  return {
    interceptors: [patient],
    settle: async () => {
      settling = true;
      const ms = nextRetry - performance.now();
      // A timer may be a little late.
      if (ms > 0) await pause(ms + 50);
    },
  };
}
