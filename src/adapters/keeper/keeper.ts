import { existsSync } from 'node:fs';
import type { HomeLayout } from '../../domain/names.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { ExitRecord } from '../../domain/run/outcome.ts';
import { readJson } from '../disk/json-file.ts';
import { bootSeconds } from '../program/process.ts';
import {
  DEFAULT_LADDER,
  PROTOCOL,
  type LaunchAnswer,
  type LaunchedRecord,
  type LaunchInput,
  type Operation,
  type Operations,
  type RunEnd,
} from './protocol.ts';
import { Run } from './run.ts';
import { killRemains } from './tree.ts';

type Handlers = {
  [Op in Operation]: (args: Operations[Op]['asks']) => Operations[Op]['answers'] | Promise<Operations[Op]['answers']>;
};

/** All runs of one worker, and the two clocks that end them when nobody else does. */
export class Keeper {
  readonly #home: HomeLayout;
  readonly #runs = new Map<string, Run>();
  readonly #launching = new Map<string, Promise<LaunchAnswer>>();
  readonly #changed: () => void;
  #ladder = DEFAULT_LADDER;
  #selfKillMs = Number.POSITIVE_INFINITY;
  #lastContact = bootSeconds();

  /** `changed` is called after each end of a run. */
  constructor(home: HomeLayout, changed: () => void) {
    this.#home = home;
    this.#changed = changed;
  }

  get busy(): boolean {
    return this.#launching.size > 0 || [...this.#runs.values()].some((run) => run.live);
  }

  /** Each second: a machine that was asleep has missed its contact and its deadlines when it wakes up. */
  tick(): void {
    const lost = bootSeconds() - this.#lastContact > this.#selfKillMs / 1_000;
    for (const run of this.#runs.values()) {
      run.tick();
      if (lost) run.stop('host-lost', this.#ladder);
      else if (run.overdue) run.stop('timed-out', this.#ladder);
    }
  }

  fence(): void {
    for (const run of this.#runs.values()) run.stop('host-lost', this.#ladder);
  }

  readonly handlers: Handlers = {
    hello: ({ selfKillMs, ladder }) => {
      this.#selfKillMs = selfKillMs;
      this.#ladder = ladder;
      return { protocol: PROTOCOL, pid: process.pid };
    },
    launch: (order) => this.#launchOnce(order),
    stop: async ({ runId, reason }) => {
      await this.#launching.get(runId);
      return { stopping: this.#runs.get(runId)?.stop(reason, this.#ladder) ?? false };
    },
    status: async (ref) => {
      await this.#launching.get(ref.runId);
      const run = this.#runs.get(ref.runId);
      return run?.live ? run.status() : this.#endOf(ref);
    },
    list: () => [...this.#runs.values()].map((run) => run.held()),
    wait: (ref) => this.#endOf(ref),
    contact: ({ sentAtBootSeconds }) => {
      // After a sleep it may come before the tick that has to see how long there was none.
      this.tick();
      this.#lastContact = Math.max(this.#lastContact, Math.min(sentAtBootSeconds, bootSeconds()));
      return {};
    },
    forget: ({ runId }) => {
      const run = this.#runs.get(runId);
      if (run?.live) void run.over.then(() => this.#runs.delete(runId));
      else this.#runs.delete(runId);
      return {};
    },
  };

  async #launchOnce(order: LaunchInput): Promise<LaunchAnswer> {
    const held = this.#runs.get(order.runId);
    if (held) return { ok: true, fresh: false, pid: held.pid };
    const underWay = this.#launching.get(order.runId);
    if (underWay) return underWay.then((answer) => (answer.ok ? { ...answer, fresh: false } : answer));
    const launch = this.#launch(order).finally(() => {
      this.#launching.delete(order.runId);
      this.#changed();
    });
    this.#launching.set(order.runId, launch);
    return launch;
  }

  async #launch(order: LaunchInput): Promise<LaunchAnswer> {
    this.tick();
    const { askedAtBootSeconds: asked } = order;
    // A worker may have stood still between its question and this order.
    if (bootSeconds() - asked > this.#selfKillMs / 1_000)
      return { ok: false, why: 'too-late', message: 'the server was asked too long ago' };
    this.#lastContact = Math.max(this.#lastContact, Math.min(asked, bootSeconds()));
    try {
      const run = await Run.launch(order, this.#home);
      if (!run) return { ok: false, why: 'already-launched', message: `run ${order.runId} was launched before` };
      this.#runs.set(order.runId, run);
      void run.over.then(this.#changed);
      return { ok: true, fresh: true, pid: run.pid };
    } catch (error) {
      return { ok: false, why: 'cannot-start', message: (error as Error).message };
    }
  }

  async #endOf({ taskId, runId }: RunRef): Promise<RunEnd> {
    await this.#launching.get(runId);
    const run = this.#runs.get(runId);
    if (run) return { state: 'ended', exit: await run.ended };
    const paths = this.#home.run(taskId, runId);
    const exit = await readJson<ExitRecord>(paths.exit);
    if (exit) return { state: 'ended', exit };
    if (!existsSync(paths.launched)) return { state: 'unknown' };
    // A record that cannot be read tells at least that there was a launch: there is never a second one.
    const launched = await readJson<LaunchedRecord>(paths.launched);
    const { identity = null, isolation = 'process-group' } = launched ?? {};
    killRemains({ identity, mark: runId, isolation });
    return { state: 'crashed' };
  }
}
