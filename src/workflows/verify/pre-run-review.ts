import type { Failure } from '../../domain/agent/failure.ts';
import type { TaskRecord } from '../state/task-record.ts';
import type { WorkerActivities } from '../worker/worker-activities.ts';

/** Another agent's look at the task before its first run, where that is asked for. Undefined: it may start. */
export async function reviewBeforeRun(host: WorkerActivities, record: TaskRecord): Promise<Failure | undefined> {
  const { gate, decision } = record.view;
  if (gate?.ok) return undefined;
  const said = gate && decision?.action === 'retry' && decision.why ? decision.why : null;
  const gated = await host.call('review of the task', (on) => on.gateTask({ ...host.ref, said }));
  record.gated(gated);
  if (gated.ok) return undefined;
  const { reason = 'invalid-task', summary: message, until } = gated;
  return { reason, message, ...(until ? { until } : {}) };
}
