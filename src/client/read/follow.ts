import { setTimeout as pause } from 'node:timers/promises';
import { describeTask, isSettled, progressOf, reportOf, type TaskReport } from './view.ts';
import type { FleetConnection } from '../connection.ts';

const TICK_MS = 500;

export interface FollowOptions {
  signal?: AbortSignal;
  tickMs?: number;
}

/**
 * The task as it goes, twice a second, until it is settled (closed or parked) or the signal aborts. Cheap: a worker is
 * asked only when the history has grown; what its live activity says comes from the server.
 */
export async function* followTask(
  wire: FleetConnection,
  id: string,
  options: FollowOptions = {},
): AsyncGenerator<TaskReport> {
  const { signal, tickMs = TICK_MS } = options;
  let last: { length: number; report: TaskReport } | undefined;
  while (!signal?.aborted) {
    const described = await describeTask(wire, id);
    const fresh = last && !last.report.partial && last.length === described.historyLength;
    const report: TaskReport =
      last && fresh ? { ...last.report, live: await progressOf(wire, described) } : await reportOf(wire, described);
    last = { length: described.historyLength, report };
    yield report;
    if (isSettled(report)) return;
    await pause(tickMs, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
}

/** The settled task; undefined where the time ran out first. */
export async function waitForTask(
  wire: FleetConnection,
  id: string,
  timeoutMs?: number,
): Promise<TaskReport | undefined> {
  const signal = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  for await (const report of followTask(wire, id, signal ? { signal } : {})) {
    if (isSettled(report)) return report;
  }
  return undefined;
}
