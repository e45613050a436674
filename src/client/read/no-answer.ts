import { FleetError } from '../../domain/error.ts';
import { isAttached, listWorkers, type FleetWorker } from '../fleet/workers.ts';
import type { FleetConnection } from '../connection.ts';

/** What a missing answer means: workers that are attached are busy, others are gone. */

/** Why none of a queue's workers answered, e.g. `worker ada is attached and did not answer in time, as happens under load`. */
export async function whyNoAnswer(wire: FleetConnection, queue: string): Promise<string> {
  return sentenceOf(await workersOf(wire, queue), `no attached worker answers on queue ${queue}`);
}

/** For what one of a queue's workers was to do. */
export async function unanswered(wire: FleetConnection, queue: string): Promise<FleetError> {
  const workers = await workersOf(wire, queue);
  return failure(workers, `no attached worker answers on queue ${queue}`);
}

/** For what only one worker can answer. */
export async function unansweredBy(
  wire: FleetConnection,
  { name, hostQueue }: { name: string; hostQueue: string },
): Promise<FleetError> {
  const workers = (await listWorkers(wire)).filter((worker) => worker.hostQueue === hostQueue);
  return failure(workers, `worker ${name}, which holds this, is not attached`);
}

const workersOf = async (wire: FleetConnection, queue: string): Promise<FleetWorker[]> =>
  (await listWorkers(wire)).filter(({ queues }) => queues.includes(queue));

function failure(workers: readonly FleetWorker[], otherwise: string): FleetError {
  const hint = workers.some(isAttached) ? 'try again' : 'start one with fleet worker';
  return new FleetError('unavailable', sentenceOf(workers, otherwise), { hint });
}

function sentenceOf(workers: readonly FleetWorker[], otherwise: string): string {
  const busy = workers.filter(isAttached).map(({ name }) => name);
  if (busy.length === 0) return otherwise;
  const [who, are] = busy.length === 1 ? ['worker', 'is'] : ['workers', 'are'];
  return `${who} ${busy.join(', ')} ${are} attached and did not answer in time, as happens under load`;
}
