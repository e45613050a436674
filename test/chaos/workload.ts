import { setTimeout as sleep } from 'node:timers/promises';
import { FleetError } from '../../src/client.ts';
import { stateOf } from '../../src/client/read/view.ts';
import type { TaskState } from '../../src/domain/task/state.ts';
import type { Answer, Event } from './history.ts';
import type { Load } from './schedule.ts';
import type { World } from './world.ts';

const ANSWER_MS = 15_000;
const LOOK_MS = 1_500;
const CLOSED: readonly TaskState[] = ['done', 'failed', 'cancelled'];
type Operation = Extract<Event, { kind: 'operation' }>['what'];

/** The clients of a fleet: they enqueue, look, cancel, and decide what is parked. */
export class Workload {
  readonly #world: World;
  /** What each task was when it was last seen; undefined: its enqueueing got no answer. */
  readonly tasks = new Map<string, TaskState | undefined>();
  readonly #retried = new Map<string, number>();
  /** When a task was last seen to change, by `performance.now()`. */
  changedMs = performance.now();

  constructor(world: World) {
    this.#world = world;
  }

  async enqueue(loads: readonly Load[], signal: AbortSignal): Promise<void> {
    const started = performance.now();
    const open: Promise<unknown>[] = [];
    for (const [i, load] of loads.entries()) {
      await sleep(Math.max(0, load.atMs - (performance.now() - started)), undefined, { signal });
      open.push(this.#one(`chaos-${i}`, load));
    }
    await Promise.all(open);
  }

  async #one(id: string, { coder, remote, cancelMs }: Load): Promise<void> {
    const { fleet, repos } = this.#world;
    this.tasks.set(id, undefined);
    const input = {
      ...{ objective: `Be ${coder}`, coder, repo: remote ? repos.url : repos.path },
      ...{ retry: { maxAttempts: 2, backoff: '1s' }, limits: { total: '3m', idle: '2m' } },
    };
    const answer = await this.#operation('enqueue', id, () => fleet.enqueue(input, { id }));
    if (answer === 'refused') this.tasks.delete(id);
    if (cancelMs === null) return;
    await sleep(cancelMs);
    await this.#operation('cancel', id, () => fleet.cancel(id));
  }

  /** Looks at every task that may still change, and notes what it sees. */
  async look(): Promise<void> {
    for (const [id, before] of this.tasks) {
      if (before && CLOSED.includes(before)) continue;
      const state = await within(this.#world.fleet.temporal.workflow.getHandle(id).describe()).then(
        stateOf,
        () => undefined,
      );
      if (!state) continue;
      this.tasks.set(id, state);
      if (state === before) continue;
      this.changedMs = performance.now();
      this.#world.history.add({ kind: 'seen', id, state });
    }
  }

  /** A parked task is tried again once, then given up. */
  async decide(): Promise<void> {
    const { fleet } = this.#world;
    for (const [id, state] of this.tasks) {
      if (state !== 'parked') continue;
      const retried = this.#retried.get(id) ?? 0;
      this.#retried.set(id, retried + 1);
      if (retried === 0) await this.#operation('retry', id, () => fleet.retry(id));
      else await this.#operation('give-up', id, () => fleet.giveUp(id));
    }
  }

  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look();
      await this.decide();
      await sleep(LOOK_MS);
    }
  }

  get open(): string[] {
    return [...this.tasks].flatMap(([id, state]) => (state && !CLOSED.includes(state) ? [id] : []));
  }

  async #operation(what: Operation, id: string, run: () => Promise<unknown>): Promise<Answer> {
    const { history } = this.#world;
    try {
      await within(run());
      history.add({ kind: 'operation', what, id, answer: 'ok' });
      return 'ok';
    } catch (error) {
      // A refusal has an exit code of its own; whatever else it was, the server may have done it.
      const answer = error instanceof FleetError && error.exitCode === 2 ? 'refused' : 'unknown';
      history.add({ kind: 'operation', what, id, answer, message: String(error).slice(0, 200) });
      return answer;
    }
  }
}

/** @throws after 15 seconds; nobody waits for the answer any more. */
export async function within<T>(answer: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = sleep(ANSWER_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(`no answer in ${ANSWER_MS} ms`);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}
