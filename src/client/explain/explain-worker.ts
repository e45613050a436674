import { formatDuration } from '../../domain/values/duration.ts';
import { isOnWorker } from '../../domain/list/task-row.ts';
import type { TaskReport } from '../read/view.ts';
import { isAttached, type FleetWorker } from '../fleet/workers.ts';

/** A task whose run is on a worker that gives no sign: nobody knows how it stands. Pure. */

/** Undefined where the worker of its run is attached, or is not known at all. */
export function unheardSentence(
  report: TaskReport,
  workers: readonly FleetWorker[],
  nowMs: number,
): string | undefined {
  if (!isOnWorker(report)) return undefined;
  const run = report.runs.at(-1);
  const holder = workers.find(({ name, hostQueue }) => (run ? hostQueue === run.hostQueue : name === report.worker));
  if (!holder || isAttached(holder)) return undefined;
  const { name, state, lease, changedAt } = holder;
  const since = holder.heardAt ?? changedAt;
  const agoMs = nowMs - Date.parse(since);
  const ago = `${formatDuration(Math.max(0, agoMs))} ago, at ${since}`;
  const sign = state === 'detached' ? `worker ${name} was stopped ${ago}` : `worker ${name} gave its last sign ${ago}`;
  const leftMs = lease.heartbeatMs + lease.graceMs - agoMs;
  const back = leftMs > 0 ? `, unless it is back within ${formatDuration(leftMs)}` : '';
  const next = workers.some((other) => isAttached(other) && other.queues.includes(report.queue))
    ? `the run is given up and the task waits for a worker again${back}`
    : `nothing follows until a worker is attached: type fleet worker${report.queue === 'fleet' ? '' : ` --queue ${report.queue}`}`;
  return `unknown: ${sign}, in state ${report.state}; without contact it ends its agent itself, and ${next}`;
}
