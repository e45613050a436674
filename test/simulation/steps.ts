import type { RunRef } from '../../src/domain/view/task-view.ts';
import type { Attempt, Work } from './attempt.ts';
import { Cancelled } from './failures.ts';
import { Latch } from './latch.ts';
import type { Worker } from './worker.ts';

/** One after the other for each run, as an attempt that the server gave up may still be at work. */
export function* using<T>(on: Worker, ref: RunRef, work: Work<T>): Work<T> {
  const { runId } = ref;
  const before = on.chains.get(runId);
  const mine = new Latch();
  on.chains.set(runId, mine);
  on.busy.set(runId, (on.busy.get(runId) ?? 0) + 1);
  if (before && !before.isOpen) yield [before];
  try {
    return yield* work;
  } finally {
    mine.open();
    on.busy.set(runId, (on.busy.get(runId) ?? 1) - 1);
    if (on.disk.has(runId)) on.touch(ref);
  }
}

/** Work of some milliseconds that a cancellation stops within a second. */
export function* unlessCancelled(on: Worker, attempt: Attempt, ms: number): Work<void> {
  const over = new Latch();
  on.world.clock.after(ms, () => over.open());
  yield [over, attempt.onCancel];
  if (attempt.cancelled) yield on.world.random.between(1, 1_000);
  attempt.throwIfCancelled();
}

/** Ends at once when it is cancelled; the work itself then stops at its next look, and holds the run until then. */
export function* cancellable<T>(
  on: Worker,
  { ref, attempt }: { ref: RunRef; attempt: Attempt },
  work: () => Work<T>,
): Work<T> {
  const over = new Latch();
  let answer: { ok: unknown } | { error: Error } | undefined;
  on.spawn(using(on, ref, work()), (ending) => {
    answer = 'ok' in ending ? ending : { error: 'error' in ending ? ending.error : new Cancelled() };
    over.open();
  });
  if (!over.isOpen) yield [over, attempt.onCancel];
  if (!answer) attempt.throwIfCancelled();
  if (!answer) throw new Error('neither ended nor cancelled');
  if ('error' in answer) throw answer.error;
  return answer.ok as T;
}
