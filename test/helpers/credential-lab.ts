import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { PartialConfig } from '../../src/config.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import type { CredentialRecord } from '../../src/domain/scheduling/seats.ts';
import { agent, TestFleet } from './fleet.ts';
import { until } from './until.ts';

/** How a key stands with its vendor. `resetsAt`: epoch seconds; `wait`: its runs last until `go`. */
export interface Standing {
  refused?: boolean;
  resetsAt?: number;
  wait?: boolean;
}

/** A run as its agent told of it. */
export interface Metered {
  what: 'start' | 'end';
  key: string;
  task: string;
  run: string;
}

/** An agent lives through a machine that stands still for a while. */
const LEASE = { heartbeat: '3s', grace: '45s', selfKill: '30s' };
/** Planted in each secret: must be found nowhere. */
export const PLANTED = 'sk-planted';

/** A fleet whose coder `metered` does what its key is good for. Keys are `sk-planted-<name>`. */
export async function startCredentialLab() {
  const fleet = await TestFleet.start();
  const dir = `${fleet.root}/meter`;
  await mkdir(dir);
  const repo = await fleet.repo('repo');
  const coders = { metered: { ...agent('metered.mjs'), env: ['METER_KEY', 'METER_URL'] } };
  const read = async (name: string): Promise<CredentialRecord | undefined> =>
    (await fleet.fleet.credentials()).find((record) => record.name === name);
  return {
    ...{ fleet, dir, repo, read },
    /** Where each test has a queue of its own. */
    on: (queue: string) => ({
      worker: async (name: string, credentials: Record<string, number>, { worker, ...config }: PartialConfig = {}) => {
        const home = `${fleet.root}/${name}`;
        await mkdir(home, { recursive: true });
        for (const key of Object.keys(credentials))
          await writeFile(`${home}/${key}.env`, `METER_KEY=${PLANTED}-${key}\n`, { mode: 0o600 });
        const named = Object.entries(credentials).map(([key, seats]) => [
          key,
          { coder: 'metered', seats, envFile: `${key}.env` },
        ]);
        return fleet.worker(
          name,
          {
            ...{ coders, lease: LEASE, credentials: Object.fromEntries(named) as PartialConfig['credentials'] },
            ...config,
            worker: { slots: 4, queues: [queue], ...worker },
          },
          { env: { METER_URL: dir } },
        );
      },
      enqueue: (input: Partial<TaskInput> = {}) =>
        fleet.fleet.enqueue({ objective: 'x', repo, coder: 'metered', queue, ...input }),
    }),
    stands: (key: string, standing: Standing) => writeFile(`${dir}/${PLANTED}-${key}.json`, JSON.stringify(standing)),
    go: () => writeFile(`${dir}/go`, ''),
    runs: async (): Promise<Metered[]> => {
      const text = await readFile(`${dir}/log`, 'utf8').catch(() => '');
      return text.split('\n').flatMap((line) => {
        const [what, key = '', task = '', run = ''] = line.split(' ');
        return what === 'start' || what === 'end' ? [{ what, key: key.slice(PLANTED.length + 1), task, run }] : [];
      });
    },
    state: (name: string, fits: (record: CredentialRecord) => unknown, timeoutMs = 30_000): Promise<CredentialRecord> =>
      until(
        async () => {
          const record = await read(name);
          return record && fits(record) ? record : undefined;
        },
        { timeoutMs },
      ),
  };
}

/** The most runs of one key that went on at the same time. */
export function mostAtOnce(runs: readonly Metered[], key: string): number {
  let [most, now] = [0, 0];
  for (const run of runs) {
    if (run.key !== key) continue;
    now += run.what === 'start' ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}
