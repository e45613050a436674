import type { Failure } from '../../src/domain/agent/failure.ts';
import { LOCAL_RUNS } from '../../src/domain/view/decide.ts';
import type { HeldRun } from './attempt.ts';
import type { Random } from './random.ts';

export const failed = (reason: Failure['reason'], more: Partial<Failure> = {}): { ok: false; failure: Failure } => ({
  ok: false,
  failure: { reason, message: reason, ...more },
});

/** What may keep an agent from being started; `moving`: and others have not met it. */
const UNPREPARED = [
  ...(['setup-failed', 'repo-unavailable', 'base-missing', 'disk', 'machine-fault'] as const).map((reason) => ({
    reason,
    moving: false,
  })),
  ...(['setup-failed', 'repo-unavailable', 'machine-fault'] as const).map((reason) => ({ reason, moving: true })),
];

export function unprepared(random: Random, { met }: HeldRun): { ok: false; failure: Failure } {
  const { reason, moving } = random.pick(UNPREPARED);
  return failed(reason, moving && met + 1 < LOCAL_RUNS ? { local: true } : {});
}
