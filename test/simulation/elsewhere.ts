import type { Replayed, ReplayInput, SecondWorker } from '../../src/domain/worker/second-verdict.ts';
import type { RunRef, Verified } from '../../src/domain/view/task-view.ts';
import type { Attempt, Work } from './attempt.ts';
import { ActivityError } from './failures.ts';
import { cancellable, unlessCancelled, using } from './steps.ts';
import type { Worker } from './worker.ts';

/** In the end somebody attaches another worker: here it is the same one. */
const PATIENCE_MS = 3_600_000;
const EVERY_MS = 30_000;

/** The activities by which a second worker verifies again, as far as the workflow can tell. */
export const ELSEWHERE = { findSecondWorker, offerResult, replayResult, compareReplay };

function* findSecondWorker(
  on: Worker,
  { runId, avoid, wait }: RunRef & { avoid: string | null; wait: boolean },
  attempt: Attempt,
): Work<SecondWorker | null> {
  const { workers, clock, random } = on.world;
  const since = clock.now;
  for (;;) {
    yield random.between(5, 50);
    if (!on.disk.has(runId)) throw new ActivityError('UnknownRun', { nonRetryable: true });
    const others = workers.filter((other) => other !== on && other.inContact);
    const best = others.find(({ hostQueue }) => hostQueue !== avoid) ?? others[0];
    const found = best ?? (clock.now - since > PATIENCE_MS ? on : undefined);
    if (found) {
      const { name, hostQueue } = found;
      const publicKey = { id: name, key: '', since: '' };
      return { name, machine: name, hostQueue, publicKey, lease: { heartbeatMs: 12_000, graceMs: 40_000 } };
    }
    if (!wait) return null;
    yield* unlessCancelled(on, attempt, EVERY_MS);
  }
}

function* offerResult(on: Worker, ref: RunRef) {
  const { random, flaky } = on.world;
  yield random.spread(10, 3_000);
  if (random.chance(flaky) || !on.disk.get(ref.runId)?.verified?.verdict.accepted) throw new ActivityError('Error');
  return { ok: true, order: ref };
}

function* replayResult(on: Worker, { taskId, runId }: ReplayInput, attempt: Attempt): Work {
  const { random, flaky } = on.world;
  return yield* cancellable(on, { ref: { taskId, runId: `${runId}-replay` }, attempt }, function* () {
    yield* unlessCancelled(on, attempt, random.spread(200, 120_000));
    if (random.chance(flaky)) throw new ActivityError('Error');
    if (random.chance(0.03)) return { ok: false, failure: { reason: 'invalid-task', message: 'no held-out check' } };
    return { ok: true, replayed: { worker: on.name, digest: random.chance(0.9) ? 'same' : 'other' } };
  });
}

function* compareReplay(on: Worker, order: RunRef & { replayed: Replayed }): Work<Verified> {
  return yield* using(
    on,
    order,
    (function* () {
      yield on.world.random.spread(10, 3_000);
      const run = on.disk.get(order.runId);
      if (!run?.verified) throw new ActivityError('UnknownRun', { nonRetryable: true });
      const { elsewhere, ...first } = run.verified;
      if (!elsewhere) return first;
      const accepted = order.replayed.digest === 'same';
      if (!accepted && first.commit) on.vault.set(order.runId, first.commit);
      const refused = { accepted, reasons: ['replay: another verdict'], reason: 'receipts-rejected' as const };
      return (run.verified = accepted ? first : { ...first, verdict: { ...first.verdict, ...refused } });
    })(),
  );
}
