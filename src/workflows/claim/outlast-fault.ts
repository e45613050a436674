import { sleep } from '@temporalio/workflow';
import type { Failure } from '../../domain/agent/failure.ts';
import { WorkerLost } from '../worker/worker-activities.ts';

type Failed = { ok: false; failure: Failure };

const MOST_TRIES = 5;
const FIRST_PAUSE_MS = 5_000;

/**
 * One step with an accepted result, again while the worker's machine is at fault: a new run would do the work a second time. What
 * outlasts it is for a person, who finds the result as it was kept.
 */
export async function outlastFault<T extends object>(step: () => Promise<T | Failed>): Promise<T | Failed> {
  for (let tries = 1; ; tries += 1) {
    const end = await step().catch(faultOf);
    if (!isFault(end)) return end;
    if (tries === MOST_TRIES) {
      const message = `${end.failure.message} (${tries} times in a row)`;
      return { ok: false, failure: { reason: 'machine-fault', message, lasting: true } };
    }
    await sleep(FIRST_PAUSE_MS * 2 ** (tries - 1));
  }
}

const isFault = (end: object): end is Failed => 'failure' in end && (end as Failed).failure.reason === 'machine-fault';

function faultOf(error: unknown): Failed {
  if (!(error instanceof WorkerLost) || error.failure.reason !== 'machine-fault') throw error;
  return { ok: false, failure: error.failure };
}
