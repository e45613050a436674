import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import type { Client } from '@temporalio/client';
import { leaveGroups, sweepGroups } from '../../src/adapters/sandbox/cgroup.ts';
import { connectClient } from '../../src/adapters/temporal/connection.ts';
import { connectFleet, type Fleet, type TaskReport } from '../../src/client.ts';
import type { PartialConfig } from '../../src/config.ts';
import type { TaskView } from '../../src/domain/view/task-view.ts';
import type { WorkerView } from '../../src/domain/worker/worker.ts';
import { agents, type LiveAgent } from './live-agents.ts';
import type { Machine } from './network.ts';
import { tempDir } from './temp.ts';
import { startTemporal, type TestServer } from './temporal.ts';
import { strays } from './strays.ts';
import { until } from './until.ts';
import { workerConfig } from './worker-config.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const AGENTS = fileURLToPath(new URL('../fixtures/agents', import.meta.url));

/** Every program in test/fixtures/agents as a coder of its own name. */
export const agent = (file: string): { command: string[]; protocol: 'none' | 'claude' } =>
  file.endsWith('.mjs')
    ? { command: [process.execPath, `${AGENTS}/${file}`], protocol: 'claude' }
    : { command: ['sh', `${AGENTS}/${file}`], protocol: 'none' };

export interface TestWorker extends AsyncDisposable {
  home: string;
  name: string;
  pid: number;
  /** Resolves when the process is dead. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code when it has ended by itself; null where a signal ended it. */
  exited: Promise<number | null>;
  /** What it says of itself, after this was called: takes some seconds. */
  view(): Promise<WorkerView>;
  output(): string;
}

export interface WorkerOptions {
  env?: Record<string, string>;
  /** Further flags of `fleet worker`. */
  flags?: string[];
  /** Where it runs, if not on this host itself. */
  machine?: Pick<Machine, 'prefix' | 'address'>;
}

/** A real server, real worker processes and the real command, all in one temp folder; nothing may outlive it. */
export class TestFleet implements AsyncDisposable {
  readonly root: string;
  readonly server: TestServer;
  readonly fleet: Fleet;
  /** Temporal's own client, to look behind the fleet's. */
  readonly client: Client;
  readonly #workers = new Set<TestWorker>();
  readonly #dispose: () => Promise<void>;

  private constructor(parts: Pick<TestFleet, 'root' | 'server' | 'fleet' | 'client'>, dispose: () => Promise<void>) {
    ({ root: this.root, server: this.server, fleet: this.fleet, client: this.client } = parts);
    this.#dispose = dispose;
  }

  static async start(): Promise<TestFleet> {
    const temp = await tempDir();
    const server = await startTemporal();
    const fleet = await connectFleet({ env: { ...server.env, FLEET_HOME: `${temp.path}/client` } });
    const { client, connection } = await connectClient(server.env);
    return new TestFleet({ root: temp.path, server, fleet, client }, async () => {
      await fleet[Symbol.asyncDispose]();
      await connection.close();
      await server.stop();
      for (const home of await readdir(temp.path)) dropGroups(`${temp.path}/${home}`);
      await temp[Symbol.asyncDispose]();
    });
  }

  /**
   * Starts `fleet worker` and waits until it has attached. Same name: same FLEET_HOME, as after a restart. Tests that
   * run at the same time each give their workers a queue of their own.
   */
  async worker(
    name: string,
    config: PartialConfig = {},
    { env = {}, flags = [], machine }: WorkerOptions = {},
  ): Promise<TestWorker> {
    const home = `${this.root}/${name}`;
    await mkdir(home, { recursive: true });
    const full = uniqueName(name);
    // Agents that play their part say so by files there.
    const sandbox = { write: [this.root] };
    await writeFile(`${home}/config.yaml`, workerConfig({ sandbox, ...config }, full));
    const startedAt = new Date().toISOString();
    const [file, ...args] = [...(machine?.prefix ?? []), MAIN, 'worker', ...flags];
    const server = machine ? { TEMPORAL_ADDRESS: machine.address } : {};
    const child = spawn(file!, args, {
      env: { ...this.server.env, ...server, FLEET_HOME: home, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
    let asked = false;
    child.once('exit', (code, signal) => {
      if (!asked && (code !== 0 || signal))
        process.stderr.write(`worker ${full} ended with ${signal ?? code}, having said:\n${output.slice(-4_000)}\n`);
    });
    const ended = exited(child);
    const worker: TestWorker = {
      ...{ home, name: full, pid: child.pid!, output: () => output, exited: ended },
      kill: (signal) => void ((asked = true), child.kill(signal)),
      stop: async (signal = 'SIGTERM') => {
        asked = true;
        child.kill(signal);
        await ended;
        this.#workers.delete(worker);
      },
      view: () => this.#viewOf(full, new Date().toISOString()),
      [Symbol.asyncDispose]: () => worker.stop('SIGKILL'),
    };
    this.#workers.add(worker);
    await until(() => {
      if (child.exitCode !== null) throw new Error(`worker ended: ${output}`);
      return /^worker .* slot/m.test(output);
    });
    const view = await this.#viewOf(full, startedAt);
    if (view.pid !== child.pid) throw new Error(`another worker answers as ${full}`);
    return worker;
  }

  #viewOf(name: string, from: string): Promise<WorkerView> {
    const said = async () => (await this.fleet.workers()).find((worker) => worker.name === name)?.view;
    return until(async () => {
      const view = await said();
      return view && view.at > from ? view : undefined;
    });
  }

  async stopWorkers(): Promise<void> {
    for (const worker of this.#workers) await worker.stop('SIGKILL');
  }

  /** Resolves once an agent of the task lives, of run `n` where given. Looks at the machine only: no worker needs to answer. */
  async running(id: string, n?: number): Promise<LiveAgent> {
    return until(async () => (await agents(id)).find(({ runId }) => n === undefined || runId.startsWith(`${n}-`)), {
      timeoutMs: 120_000,
    });
  }

  /**
   * The task once it is closed or parked, as it says itself: while its worker is busy the server answers for it.
   * @throws where it comes no further for so long
   */
  async settled(id: string, timeoutMs = 150_000): Promise<TaskReport> {
    let [reached, end] = ['', 0];
    for (;;) {
      const report = await this.fleet.wait(id, Math.min(timeoutMs, 15_000));
      if (report && !(report.partial && ['parked', 'cancelled'].includes(report.state))) return report;
      const view = await this.fleet.view(id);
      const now = `${view.state} ${view.since} ${view.runs.length}`;
      if (now !== reached) [reached, end] = [now, performance.now() + timeoutMs];
      if (performance.now() > end) throw new Error(`${id} did not settle: ${JSON.stringify(view)}`);
      await sleep(200);
    }
  }

  /** The activity that is pending for a task, as the server knows it. */
  async pending(id: string): Promise<{ activityId: string; started: boolean } | undefined> {
    const { raw } = await this.client.workflow.getHandle(id).describe();
    const [activity] = raw.pendingActivities ?? [];
    // 2: PENDING_ACTIVITY_STATE_STARTED
    return activity && { activityId: activity.activityId ?? '', started: activity.state === 2 };
  }

  /** The result of a closed task, by the server's long poll. */
  async result(id: string): Promise<TaskView> {
    return (await this.client.workflow.getHandle(id).result()) as TaskView;
  }

  /** Runs the command as a person would. */
  async cli(args: string[], options: { cwd?: string; input?: string; env?: Record<string, string> } = {}) {
    const { stdout, stderr, exitCode } = await execa(process.execPath, [MAIN, ...args], {
      cwd: options.cwd ?? this.root,
      env: { ...this.server.env, FLEET_HOME: `${this.root}/client`, ...options.env },
      extendEnv: false,
      reject: false,
      ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
    });
    return { stdout, stderr, code: exitCode };
  }

  /** A repository with one commit of these files. */
  async repo(name: string, files: Record<string, string> = { 'README.md': 'hello\n' }): Promise<string> {
    const dir = `${this.root}/${name}`;
    for (const [path, text] of Object.entries(files)) {
      await mkdir(`${dir}/${path}`.replace(/\/[^/]*$/, ''), { recursive: true });
      await writeFile(`${dir}/${path}`, text);
    }
    await git(dir, 'init', '-q', '-b', 'main');
    await git(dir, 'add', '-A');
    await git(dir, '-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-q', '-m', 'Base');
    return dir;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopWorkers();
    // One that is killed may have started another one meanwhile.
    await until(
      async () => {
        const left = await strays(this.root);
        left.forEach(kill);
        return left.length === 0;
      },
      { timeoutMs: 60_000 },
    );
    await this.#dispose();
  }
}

/** Other test files run workers on this machine at the same time. */
const uniqueName = (name: string): string => `${name}-${process.pid}`;

export async function git(dir: string, ...args: string[]): Promise<string> {
  return (await execa('git', ['-C', dir, ...args], { env: { GIT_CONFIG_GLOBAL: '/dev/null' } })).stdout;
}

/** A keeper that was killed leaves its empty control groups to the next one. */
function dropGroups(home: string): void {
  sweepGroups(home, () => true);
  leaveGroups(home);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function exited(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}
