import { writeFile } from 'node:fs/promises';
import { expect } from '@jest/globals';
import type { FleetWorker } from '../../src/client.ts';
import type { PartialConfig } from '../../src/config.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, TestFleet, type TestWorker } from './fleet.ts';
import { until } from './until.ts';

const coders = { ok: agent('ok.sh'), wait: agent('wait-for-file.sh'), stubborn: agent('ignore-term.sh') };

/** Orders to all reach every worker of the server: tests run one after the other, each on a queue of its own. */
export async function startOrderLab() {
  const fleet = await TestFleet.start();
  const repo = await fleet.repo('repo');
  const known = async ({ name }: Pick<TestWorker, 'name'>): Promise<FleetWorker | undefined> =>
    (await fleet.fleet.workers()).find((worker) => worker.name === name);
  return {
    fleet,
    known,
    on: (queue: string) => ({
      worker: (name: string, { worker, ...config }: PartialConfig = {}) =>
        fleet.worker(name, { coders, ...config, worker: { slots: 1, queues: [queue], ...worker } }),
      enqueue: (input: Partial<TaskInput> = {}) =>
        fleet.fleet.enqueue({ objective: 'x', repo, coder: 'wait', queue, ...input }),
    }),
    /** Stdout of a command that ends well. */
    cli: async (...args: string[]): Promise<string> => {
      const ran = await fleet.cli(args);
      expect(ran).toMatchObject({ code: 0 });
      return ran.stdout;
    },
    inState: (worker: Pick<TestWorker, 'name'>, ...states: FleetWorker['state'][]): Promise<FleetWorker> =>
      until(
        async () => {
          const found = await known(worker);
          return found && states.includes(found.state) ? found : undefined;
        },
        { timeoutMs: 60_000 },
      ),
    explained: (id: string, sentence: RegExp) =>
      until(async () => sentence.test((await fleet.fleet.explain(id)).sentence), { timeoutMs: 20_000 }),
    go: (work: string) => writeFile(`${work}/go`, ''),
  };
}
