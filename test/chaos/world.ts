import { mkdir, writeFile, chmod } from 'node:fs/promises';
import { execa } from 'execa';
import { startDevServer, type DevServer } from '../../src/adapters/temporal/dev-server.ts';
import { freePorts } from '../../src/adapters/temporal/free-ports.ts';
import { isAlive, identify } from '../../src/adapters/program/process.ts';
import { connectFleet, type Fleet } from '../../src/client.ts';
import type { PartialConfig } from '../../src/config.ts';
import { liveAgents } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';
import type { History } from './history.ts';
import { Site } from './site.ts';

const AGENT = new URL('../fixtures/agents/chaos.sh', import.meta.url).pathname;
const coder = (...args: string[]) => ({ command: ['sh', AGENT, ...args], protocol: 'none' as const, env: ['JOURNAL'] });
const CODERS = {
  short: coder('steady', '2'),
  middle: coder('steady', '25'),
  long: coder('steady', '75'),
  crashy: coder('crashy', '10'),
  stubborn: coder('stubborn', '20'),
  idle: coder('idle', '3'),
};
export const CODER_NAMES = Object.keys(CODERS);

/** Short, with room for a busy machine: self-kill 6 s + 1 + 5 + 10 ≤ heartbeat + grace. */
const LEASE = { heartbeat: '4s', grace: '20s', selfKill: '6s' };
const CONFIG: PartialConfig = { coders: CODERS, lease: LEASE, disk: { floor: '40MB', reserve: '4MB' } };

/** A server with its data in a file, sites with workers, and repositories to deliver to; all in one folder. */
export class World {
  readonly root: string;
  readonly history: History;
  readonly sites: Site[] = [];
  fleet!: Fleet;
  /** A path, and the URL of a bare repository. */
  repos!: { path: string; url: string };
  #ports!: { port: number; uiPort: number };
  #server!: DevServer;

  constructor(root: string, history: History) {
    [this.root, this.history] = [root, history];
  }

  async build(options: { sites: number; machines: boolean }): Promise<void> {
    const [port, uiPort] = await freePorts(2);
    this.#ports = { port: port!, uiPort: uiPort! };
    await this.startServer();
    this.repos = await makeRepos(this.root);
    this.fleet = await connectFleet({ env: { ...this.env, FLEET_HOME: `${this.root}/client` } });
    for (let index = 0; index < options.sites; index += 1) {
      const config = {
        ...CONFIG,
        sandbox: { write: [this.root] },
        worker: { name: `chaos-${process.pid}-${index}`, slots: 2 },
      };
      const { root, env } = this;
      const server = this.#server.address;
      this.sites.push(await Site.make({ index, root, env, server, config, machine: options.machines }));
    }
    await Promise.all(this.sites.map((site) => site.start()));
    const attached = async () => (await this.fleet.workers()).filter(({ view }) => view).length;
    await until(async () => (await attached()) === options.sites, { timeoutMs: 90_000 });
  }

  get env(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      JOURNAL: this.journal,
      TEMPORAL_ADDRESS: `127.0.0.1:${this.#ports.port}`,
      TEMPORAL_CONFIG_FILE: `${this.root}/none.toml`,
    };
  }

  get journal(): string {
    return `${this.root}/journal`;
  }

  async startServer(): Promise<void> {
    this.#server = await startDevServer({ home: `${this.root}/server`, ...this.#ports, headless: true });
  }

  /** As by a power cut: it and its shell at once. */
  async killServer(): Promise<void> {
    const identity = identify(this.#server.pid);
    process.kill(-this.#server.pid, 'SIGKILL');
    await until(() => !identity || !isAlive(identity));
  }

  /** Whatever a fault did is undone. */
  async heal(): Promise<void> {
    for (const site of this.sites) {
      await site.machine?.link('healthy');
      await site.machine?.signal('SIGCONT');
      await site.freeDisk();
      await site.start();
    }
  }

  /** As a service manager would: a worker that ended by itself, as without a server at its start, is started again. */
  async supervise(): Promise<void> {
    for (const site of this.sites) if (!site.troubled) await site.start();
  }

  /** Tasks with two agents at one instant; what is asleep does nothing. */
  async lookAtAgents(): Promise<void> {
    const awake = this.sites.filter(({ asleep }) => !asleep).map(({ home }) => `${home}/`);
    const live = (await liveAgents()).filter(({ work }) => awake.some((home) => work.startsWith(home)));
    const runs = new Map<string, Set<string>>();
    for (const { taskId, runId } of live) runs.set(taskId, (runs.get(taskId) ?? new Set()).add(runId));
    for (const [id, runIds] of runs)
      if (runIds.size > 1) this.history.add({ kind: 'together', id, runIds: [...runIds] });
  }

  async demolish(): Promise<void> {
    for (const site of this.sites) await site[Symbol.asyncDispose]();
    await this.fleet?.[Symbol.asyncDispose]();
    await this.#server?.stop();
  }
}

/** The bare one notes each push to a branch of the fleet. */
async function makeRepos(root: string): Promise<{ path: string; url: string }> {
  const [path, bare] = [`${root}/checkout`, `${root}/bare.git`];
  const git = (...args: string[]) => execa('git', args, { env: { GIT_CONFIG_GLOBAL: '/dev/null' } });
  await mkdir(path);
  await writeFile(`${path}/README.md`, 'chaos\n');
  await git('-C', path, 'init', '-q', '-b', 'main');
  await git('-C', path, 'add', '-A');
  await git('-C', path, '-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-q', '-m', 'Base');
  await git('clone', '-q', '--bare', path, bare);
  await writeFile(`${bare}/hooks/post-receive`, `#!/bin/sh\nexec grep refs/heads/fleet/ >> '${root}/pushes'\n`);
  await chmod(`${bare}/hooks/post-receive`, 0o755);
  return { path, url: `file://${bare}` };
}
