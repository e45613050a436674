import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Deps } from '../../activities/worker/context.ts';
import type { Tally } from '../../domain/worker/worker.ts';
import { keptResults } from '../clean/kept-results.ts';

const LOOK_MS = 100;
type LeavingDeps = Pick<Deps, 'config' | 'holds' | 'home' | 'registry' | 'tally' | 'worker'>;

/** The longest that a worker stays for what its last runs' tasks still have to note. */
const NOTED_MS = 10_000;

/**
 * A drain: the worker takes no new work, and leaves when its last run has ended and the run's task knows. One that is
 * started after its drain has nothing to end: it stays, and takes nothing in before people resume it.
 */
export class Leaving {
  readonly #deps: LeavingDeps;
  readonly #client: Client;
  readonly #leave: () => void;
  /** When the drain was ordered that was over before this process began. */
  readonly #drained: string | undefined;
  #live = new Set<string>();
  /** Tasks whose run here ended a moment ago, with when it did. */
  readonly #gone = new Map<string, number>();
  #asked = false;
  /** What became of the runs, once it leaves with none left. */
  report: Tally | undefined;

  constructor(deps: LeavingDeps, client: Client, leave: () => void) {
    this.#deps = deps;
    this.#client = client;
    this.#leave = leave;
    this.#drained = deps.registry.size === 0 ? deps.holds.order?.at : undefined;
  }

  /** As an order to drain, but for this process only. */
  drain(): void {
    this.#asked = true;
    this.#deps.holds.set('leaving', 'it leaves when its last run has ended');
    this.settle();
  }

  /** To be called whenever an order, or the number of runs, may have changed. */
  settle = (): void => {
    const { holds, registry, tally } = this.#deps;
    const live = new Set(registry.list().map(({ taskId }) => taskId));
    for (const taskId of this.#live) if (!live.has(taskId)) this.#gone.set(taskId, performance.now());
    for (const [taskId, at] of this.#gone) if (performance.now() - at > NOTED_MS) this.#gone.delete(taskId);
    this.#live = live;
    if (this.report || registry.size > 0) return;
    const ordered = holds.order?.mode === 'drain' && holds.order.at !== this.#drained;
    if (!this.#asked && !ordered) return;
    this.report = tally.read();
    void this.#say(this.report).finally(this.#leave);
  };

  async #say(report: Tally): Promise<void> {
    const ended = [...this.#gone.keys()];
    await this.#noted();
    const keeps = await keptResults(this.#deps, this.#client, ended).catch(() => undefined);
    if (keeps?.length) this.report = { ...report, keeps };
  }

  /** Where this is the last worker of its queues, nobody else would work on their workflows. */
  async #noted(): Promise<void> {
    const until = performance.now() + NOTED_MS;
    for (const taskId of this.#gone.keys())
      while (performance.now() < until && (await this.#isBusy(taskId).catch(() => true))) await pause(LOOK_MS);
  }

  async #isBusy(taskId: string): Promise<boolean> {
    const { raw } = await this.#client.workflow.getHandle(taskId).describe();
    const releasing = raw.pendingActivities?.some(({ activityType }) => activityType?.name === 'releaseRun');
    return Boolean(raw.pendingWorkflowTask) || releasing === true;
  }
}
