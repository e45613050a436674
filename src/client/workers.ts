import proto from '@temporalio/proto';
import type { WorkerView } from '../domain/question.ts';
import { ask } from './ask.ts';
import { describeQueue } from './queues.ts';
import { isUnreachable, mapBounded, type Wire } from './wire.ts';

/** An attached worker; `view` is null where it did not answer. */
export interface AttachedWorker {
  name: string;
  hostQueue: string;
  /** Plain claim queues, e.g. `fleet`. */
  queues: string[];
  view: WorkerView | null;
}

const IDENTITY = /^fleet\/(.+)-([^-]+)$/;
const ANSWER_MS = 8_000;
/** Workers send a heartbeat every few seconds: this long without one, and there is nobody to ask. */
const SILENT_MS = 60_000;
const WIDTH = 8;
const { WORKER_STATUS_SHUTTING_DOWN: STOPPING, WORKER_STATUS_SHUTDOWN: STOPPED } =
  proto.temporal.api.enums.v1.WorkerStatus;

/** The workers that are attached, each asked for its slots, coders and runs. */
export async function listWorkers(wire: Wire): Promise<AttachedWorker[]> {
  const [beats, polls] = await Promise.all([heartbeats(wire), pollers(wire)]);
  // A worker's first heartbeat comes seconds after it has attached.
  const found = [...(beats?.seen ?? []), ...polls.filter(({ identity }) => !beats?.known.has(identity))];
  const workers = groupWorkers(found);
  return mapBounded(workers, WIDTH, async (worker) => {
    const { name, hostQueue, queues } = worker;
    return { name, hostQueue, queues, view: await viewOf(wire, worker) };
  });
}

async function viewOf(wire: Wire, { name, hostQueue, queues, ageMs }: FoundWorker): Promise<WorkerView | null> {
  const [queue] = queues;
  if (!queue || ageMs > SILENT_MS) return null;
  return (await ask(wire, { worker: name, hostQueue, queue, timeoutMs: ANSWER_MS }, { ask: 'worker' })) ?? null;
}

/** One SDK worker of a fleet worker's process. */
export interface Seen {
  identity: string;
  taskQueue: string;
  /** Milliseconds since its last heartbeat, by this machine's clock; 0 where unknown. */
  ageMs: number;
}

interface FoundWorker extends Omit<AttachedWorker, 'view'> {
  ageMs: number;
}

/** One fleet worker has several SDK workers, one a queue, all with its identity. */
export function groupWorkers(seen: readonly Seen[]): FoundWorker[] {
  const identities = [...new Set(seen.map(({ identity }) => identity))].sort();
  return identities.flatMap((identity) => {
    const [, name, id] = IDENTITY.exec(identity) ?? [];
    if (!name || !id) return [];
    const entries = seen.filter((entry) => entry.identity === identity);
    const queues = [...new Set(entries.map(({ taskQueue }) => taskQueue))].sort();
    return {
      name,
      hostQueue: queues.find((queue) => queue.startsWith('host/')) ?? `host/${name}-${id}`,
      queues: queues.filter((queue) => !/[@/]/.test(queue)),
      ageMs: Math.min(...entries.map(({ ageMs }) => ageMs)),
    };
  });
}

/** From the workers' own heartbeats; undefined where the server does not keep them. */
async function heartbeats({ client }: Wire): Promise<{ seen: Seen[]; known: Set<string> } | undefined> {
  const { namespace } = client.options;
  const seen: Seen[] = [];
  /** Also those that have stopped. */
  const known = new Set<string>();
  let nextPageToken: Uint8Array = new Uint8Array();
  try {
    do {
      const page = await client.workflowService.listWorkers({ namespace, pageSize: 200, nextPageToken });
      // Newer servers say less in `workers`, and the same in `workersInfo`.
      const beats = page.workersInfo?.length
        ? page.workersInfo.map((info) => info.workerHeartbeat ?? {})
        : (page.workers ?? []);
      for (const beat of beats) {
        const { workerIdentity: identity, taskQueue, status } = beat;
        if (identity) known.add(identity);
        if (!identity || !taskQueue || status === STOPPING || status === STOPPED) continue;
        const at =
          'heartbeatTime' in beat && beat.heartbeatTime ? Number(beat.heartbeatTime.seconds) * 1_000 : Date.now();
        seen.push({ identity, taskQueue, ageMs: Date.now() - at });
      }
      nextPageToken = page.nextPageToken ?? new Uint8Array();
    } while (nextPageToken.length > 0);
  } catch (error) {
    if (isUnreachable(error)) throw error;
    return undefined;
  }
  return { seen, known };
}

/** From who polls the configured queues. */
async function pollers(wire: Wire): Promise<Seen[]> {
  const { config } = wire;
  const queues = [...new Set([...config.queues, ...config.worker.queues])];
  const found = await mapBounded(queues, WIDTH, async (taskQueue) => {
    const facts = await describeQueue(wire, taskQueue, 'workflows');
    return facts.pollers.map((identity) => ({ identity, taskQueue, ageMs: 0 }));
  });
  return found.flat();
}
