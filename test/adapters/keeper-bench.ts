import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaveGroups, sweepGroups } from '../../src/adapters/sandbox/cgroup.ts';
import { connectKeeper, type KeeperClient, type KeeperOptions } from '../../src/adapters/keeper/client.ts';
import type { LaunchInput } from '../../src/adapters/keeper/protocol.ts';
import { bootSeconds, identify } from '../../src/adapters/program/process.ts';
import { homeLayout } from '../../src/domain/names.ts';
import type { ExitRecord } from '../../src/domain/run/outcome.ts';
import { until } from '../helpers/until.ts';

export const SHORT_LADDER = { intMs: 300, termMs: 300, fenceMs: 300 };
/** For who obeys a signal on a slow machine: a step that nobody waits out. */
export const PATIENT_LADDER = { intMs: 10_000, termMs: 10_000, fenceMs: 10_000 };
export const PATH = '/usr/local/bin:/usr/bin:/bin';

/** A home with one run's folders and a keeper, and nothing left of them afterwards: that is asserted. */
export async function bench(options: Partial<KeeperOptions> = {}) {
  const home = homeLayout(realpathSync(mkdtempSync(join(tmpdir(), 'fleet-keeper-'))));
  const ref = { taskId: 'task', runId: `1-${Math.random().toString(36).slice(2)}` };
  const run = home.run(ref.taskId, ref.runId);
  for (const dir of [run.tree, run.agentHome, run.tmp, home.bases]) mkdirSync(dir, { recursive: true });
  const logs = home.task(ref.taskId).runOf(1).logs;
  /** In the command line of every long-lived process of the test: its name is its number of seconds. */
  const tag = `${1_000_000 + Math.floor(Math.random() * 1_000_000_000)}`;
  const clients: KeeperClient[] = [];
  const pids = new Set<number>();
  const connect = async () => {
    const client = await connectKeeper({ home, ladder: SHORT_LADDER, selfKillMs: 600_000, ...options });
    clients.push(client);
    pids.add(await client.pid());
    return client;
  };
  const client = await connect();
  return {
    ...{ home, ref, run, logs, tag, client, connect },
    order: (script: string, rest: Partial<LaunchInput> = {}): LaunchInput => ({
      ...ref,
      askedAtBootSeconds: bootSeconds(),
      limits: {},
      argv: ['sh', '-c', script],
      env: { PATH, TAG: tag, HOME: run.agentHome },
      cwd: run.tree,
      stdin: '',
      logsDir: logs,
      isolation: 'namespace',
      show: [{ path: run.work }, { path: home.bases, readOnly: true }],
      deadlineMs: 60_000,
      ...rest,
    }),
    /** Launches and expects a fresh start. */
    launch: async (order: LaunchInput): Promise<number> => {
      const answer = await client.launch(order);
      if (!answer.ok || !answer.fresh) throw new Error(JSON.stringify(answer));
      return answer.pid;
    },
    survivors: () => processesWith(tag),
    end: async (keeper = client): Promise<ExitRecord> => {
      const end = await keeper.wait(ref);
      if (end.state !== 'ended') throw new Error(`the run is ${end.state}`);
      return end.exit;
    },
    output: (stream = 'stdout') =>
      readdirSync(logs)
        .filter((name) => name.startsWith(stream))
        .map((name) => readFileSync(`${logs}/${name}`, 'utf8'))
        .join(''),
    async [Symbol.asyncDispose]() {
      for (const each of clients) {
        for (const held of await each.list().catch(() => [])) await each.stop({ ...held, reason: 'superseded' });
        each.close();
      }
      try {
        await until(() => [...pids].every((pid) => !identify(pid)) && !existsSync(home.keeperSocket));
        await until(() => processesWith(tag).length === 0);
      } finally {
        rmSync(home.root, { recursive: true });
        sweepGroups(home.root, () => true);
        leaveGroups(home.root);
      }
    },
  };
}

export type Bench = Awaited<ReturnType<typeof bench>>;

/** Pids of live processes whose command line holds the text. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text) && identify(Number(pid));
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Peak resident memory in MB. */
export function peakMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
