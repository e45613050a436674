import { readdir, readFile, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import type { PartialConfig } from '../../src/config.ts';
import { agent, git, type TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { agents, watchAgents, type LiveAgent } from '../helpers/live-agents.ts';
import { overlaps, readJournal, type Life } from '../helpers/journal.ts';
import { noMachines, startMachine, type Machine } from '../helpers/network.ts';
import { until } from '../helpers/until.ts';

/** As short as the rule for leases allows: self-kill 2 s + 1 + 5 + 10 ≤ heartbeat + grace. */
export const SHORT = { heartbeat: '3s', grace: '15s', selfKill: '2s' };

/** `onMachines('F2: …', async () => …)`: skipped, with the reason in its name, where machines cannot be made. */
export function onMachines(name: string, run: () => Promise<void>, timeoutMs = 240_000): void {
  const missing = noMachines();
  if (missing) test.skip(`${name} (skipped: ${missing})`, run);
  else test.concurrent(name, run, timeoutMs);
}

export interface Site {
  name: string;
  machine: Machine;
  worker: TestWorker;
}

export interface SceneOptions {
  lease?: PartialConfig['lease'];
  slots?: number;
  sites?: number;
}

/** One task whose agent runs on one of some machines, each with a worker. Disposed of, nothing of it is left. */
export class Scene implements AsyncDisposable {
  readonly fleet: TestFleet;
  readonly queue: string;
  readonly #options: SceneOptions;
  readonly #undo: AsyncDisposable[] = [];
  readonly sites: Site[] = [];
  repo!: string;
  id!: string;
  live!: LiveAgent;
  watched!: { most: number };

  private constructor(fleet: TestFleet, queue: string, options: SceneOptions) {
    [this.fleet, this.queue, this.#options] = [fleet, queue, options];
  }

  static async set(fleet: TestFleet, queue: string, options: SceneOptions = {}): Promise<Scene> {
    const scene = new Scene(fleet, queue, options);
    try {
      for (let i = 0; i < (options.sites ?? 2); i += 1) scene.sites.push(await scene.#site(`${queue}-${i}`));
      scene.repo = await fleet.repo(`repo-${queue}`);
      scene.id = await scene.enqueue();
      scene.live = await fleet.running(scene.id);
      const watched = await watchAgents(scene.id);
      scene.#undo.push(watched);
      scene.watched = watched;
      return scene;
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  }

  enqueue(): Promise<string> {
    const { repo, queue } = this;
    return this.fleet.fleet.enqueue({ objective: 'x', repo, coder: 'beat', queue });
  }

  async #site(name: string): Promise<Site> {
    const machine = await startMachine(this.fleet.server.address);
    this.#undo.push(machine);
    return { name, machine, worker: await this.attach(name, machine) };
  }

  async attach(name: string, machine: Machine): Promise<TestWorker> {
    const { lease = SHORT, slots = 1 } = this.#options;
    const coders = { beat: { ...agent('beat.sh'), env: ['JOURNAL'] } };
    const worker = { slots, queues: [this.queue] };
    return this.fleet.worker(name, { lease, coders, worker }, { machine, env: { JOURNAL: this.#journal } });
  }

  get #journal(): string {
    return `${this.fleet.root}/journal-${this.queue}`;
  }

  /** Where the first agent runs. */
  get lost(): Site {
    return this.sites.find(({ worker }) => this.live.work.startsWith(`${worker.home}/`))!;
  }

  get other(): Site {
    return this.sites.find((site) => site !== this.lost)!;
  }

  /** Each run's agent, by what it told itself. */
  lives(): Promise<Life[]> {
    return readJournal(this.#journal);
  }

  /** The second run, once its agent lives elsewhere. */
  async claimedElsewhere(): Promise<LiveAgent> {
    const second = async () => (await agents(this.id)).find(({ runId }) => runId.startsWith('2-'));
    const next = await until(second, { timeoutMs: 100_000 });
    expect(next.work.startsWith(`${this.other.worker.home}/`)).toBe(true);
    return next;
  }

  /** Lets each agent end that lives now. */
  async letAllEnd(): Promise<void> {
    for (const each of await agents(this.id)) await go(each).catch(() => undefined);
  }

  /** Lets that agent end, and shows that the task is done once, by it, and that the loss cost nothing. */
  async doneBy(next: LiveAgent): Promise<void> {
    await go(next);
    const report = await this.fleet.settled(this.id);
    expect(report).toMatchObject({
      state: 'done',
      attempts: { used: 1 },
      runs: [
        { runId: this.live.runId, reason: 'host-lost', counts: false },
        { runId: next.runId, reason: null },
      ],
    });
    expect(report.runs).toHaveLength(2);
    await this.deliveredBy(next.runId);
  }

  async deliveredBy(runId: string): Promise<void> {
    const branches = await git(this.repo, 'for-each-ref', '--format=%(refname)', `refs/heads/fleet/${this.id}*`);
    expect(branches).toBe(`refs/heads/fleet/${this.id}`);
    expect(await git(this.repo, 'show', `fleet/${this.id}:made.txt`)).toBe(`by ${runId}`);
  }

  /** By what this host saw and by what the agents said. */
  async neverTwo(): Promise<void> {
    expect(this.watched.most).toBe(1);
    const lives = (await this.lives()).filter(({ taskId }) => taskId === this.id);
    expect(overlaps(lives)).toEqual([]);
    expect(lives.map(({ starts }) => starts)).toEqual(lives.map(() => 1));
  }

  /** After a heal: no folder, no process and no slot is held any more. */
  async nothingLeft(sites: readonly Site[] = this.sites): Promise<void> {
    for (const { worker } of sites) {
      await until(async () => (await readdir(`${worker.home}/runs`)).every((name) => name === '.trash'), {
        timeoutMs: 90_000,
      });
      await until(async () => (await worker.view().catch(() => undefined))?.slots.used === 0, { timeoutMs: 90_000 });
      expect(await strays(`${worker.home}/runs`)).toEqual([]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { worker } of this.sites) await worker.stop('SIGKILL');
    for (const each of this.#undo.reverse()) await each[Symbol.asyncDispose]();
  }
}

export const go = ({ work }: LiveAgent): Promise<void> => writeFile(`${work}/go`, '');

/** How the keeper says that the agent of a run ended; undefined as long as it lives. */
export async function exitOf({ home }: TestWorker, id: string, runId: string) {
  const text = await readFile(`${home}/runs/${id}/${runId}/exit.json`, 'utf8').catch(() => '');
  return text ? (JSON.parse(text) as { stopped: string | null }) : undefined;
}
