import { priorityKey } from '../names.ts';

/** Priorities of one class. */
const STEP = 20;
/** Before a claim is asked for anew only to be more urgent. */
const LEAST_MS = 1_000;

/**
 * How urgent a claim is that has waited: for each `ageingMs` as much as one with 20 less. `untilMs`: when it will be more
 * urgent than now; null where nothing is.
 */
export function urgencyOf(of: { priority: number; ageingMs: number; waitedMs: number }): {
  key: number;
  untilMs: number | null;
} {
  const { priority, ageingMs, waitedMs } = of;
  const steps = Math.floor(waitedMs / ageingMs);
  const key = priorityKey(Math.max(0, priority - steps * STEP));
  return { key, untilMs: key === 1 ? null : Math.max(LEAST_MS, (steps + 1) * ageingMs - waitedMs) };
}
