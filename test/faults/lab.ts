import { readdir } from 'node:fs/promises';
import { readSegments } from '../../src/adapters/state/log-segments.ts';
import type { PartialConfig } from '../../src/config.ts';
import { homeLayout } from '../../src/domain/names.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import type { TestFleet, TestWorker, WorkerOptions } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

/** An agent outlives a restart of its worker on a busy machine. */
const LONG = { heartbeat: '3s', grace: '45s', selfKill: '30s' };

/** Workers, tasks and a repository of its own for one of the tests that run at the same time on one server. */
export async function makeLab(
  fleet: TestFleet,
  queue: string,
  coders: NonNullable<PartialConfig['coders']>,
  files?: Record<string, string>,
) {
  const repo = await fleet.repo(`repo-${queue}`, files);
  const [coder = ''] = Object.keys(coders);
  return {
    repo,
    worker: (name: string, { worker, ...config }: PartialConfig = {}, options?: WorkerOptions): Promise<TestWorker> =>
      fleet.worker(name, { lease: LONG, coders, ...config, worker: { slots: 1, queues: [queue], ...worker } }, options),
    enqueue: (input: Partial<TaskInput> = {}, id?: string): Promise<string> =>
      fleet.fleet.enqueue({ objective: 'x', repo, coder, queue, ...input }, id ? { id } : {}),
  };
}

/** All that a run's agent wrote to stdout, as its worker keeps it. */
export async function readLog({ home }: Pick<TestWorker, 'home'>, id: string, n: number): Promise<Buffer> {
  const dir = homeLayout(home).task(id).runOf(n).logs;
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const { bytes, next, gap } = await readSegments({ dir, stream: 'stdout' }, at, 1024 * 1024);
    if (gap > 0) throw new Error(`${gap} bytes of the log are missing at ${at}`);
    if (bytes.length === 0) return Buffer.concat(pieces);
    pieces.push(bytes);
    at = next;
  }
}

/** Nothing of any run is left in a worker's home. */
export const emptied = ({ home }: Pick<TestWorker, 'home'>): Promise<true> =>
  until(async () => (await readdir(`${home}/runs`)).every((entry) => entry === '.trash'), { timeoutMs: 60_000 });
