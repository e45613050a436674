/** Beats are this much late at most: clocks that differ by less count as one. */
const LATE_MS = 5_000;

/**
 * An instant of a worker's clock (ISO) on the server's clock. A beat tells both: `saidAt` by the worker's when it was sent,
 * `heardMs` by the server's when it came.
 */
export function onServersClock(instant: string, { saidAt, heardMs }: { saidAt: string; heardMs: number }): string {
  const aheadMs = Date.parse(saidAt) - heardMs;
  return Math.abs(aheadMs) < LATE_MS ? instant : new Date(Date.parse(instant) - aheadMs).toISOString();
}
