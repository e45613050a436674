import { NO_USAGE } from '../domain/event.ts';
import type { Claim, RunView } from '../domain/run.ts';

/** A run as it begins; `at` is ISO. */
export function newRun(claim: Claim, { model, at }: { model: string | null; at: string }): RunView {
  const { runId, n, worker, machine, hostQueue, coder } = claim;
  return {
    ...{ runId, n, worker, machine, hostQueue, coder, model },
    ...{ startedAt: at, endedAt: null, reason: null, message: null, counts: false },
    ...{ exitCode: null, commit: null, saved: null, late: null, resumedFrom: null, usage: NO_USAGE, receipts: [] },
  };
}
