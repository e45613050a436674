import { newestChange } from '../../adapters/disk/file-changes.ts';
import type { CoderFailure } from '../../domain/agent/event.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { StopReason } from '../../domain/run/outcome.ts';
import { askedFor, lastSaid, promptedFor } from '../output/detect-prompt.ts';
import { unlessLost, type Deps } from '../worker/context.ts';
import type { Follower } from '../output/event-follower.ts';
import { IdleClock } from './idle.ts';
import { askedBy } from '../output/outbox.ts';
import { OutputWatch } from '../output/output-watch.ts';
import type { WireWatch } from '../output/proxy-watch.ts';

/** Without progress, before a prompt counts as one, or an agent that has asked a person as one that only waits. */
const ASKING_MS = 30_000;

/** Why an agent is to be stopped, with what it waits for or said last. */
export interface Halt {
  reason: StopReason;
  why?: string;
}

/** Knows whether a live agent goes on: new text, tool calls, answers of its model, file changes, or work to be seen. */
export class ProgressWatch {
  readonly #deps: Deps;
  readonly #ref: RunRef;
  readonly #run: { follower: Follower; wire: WireWatch; idleMs: number };
  readonly #idle: IdleClock;
  readonly #asking: IdleClock;
  readonly #output: OutputWatch;
  readonly #everyMs: number;
  #nextAt: number;
  /** Lines that came again; and those of them while no tool ran, as a CLI that waits for one may tell so again and again. */
  #repeated = { all: 0, idle: 0 };

  /** `idleMs`: the limit of time without progress. */
  constructor(deps: Deps, ref: RunRef, run: { follower: Follower; wire: WireWatch; idleMs: number }) {
    [this.#deps, this.#ref, this.#run] = [deps, ref, run];
    const now = performance.now();
    this.#idle = new IdleClock(run.idleMs, now);
    this.#asking = new IdleClock(Math.min(ASKING_MS, run.idleMs / 2), now);
    this.#output = new OutputWatch(deps.home.task(ref.taskId).runOf(deps.registry.find(ref)?.n ?? 0).logs);
    this.#everyMs = Math.min(30_000, Math.max(500, run.idleMs / 20));
    this.#nextAt = now + this.#everyMs;
  }

  /** Looks where it is time to. */
  async tick(): Promise<Halt | undefined> {
    if (performance.now() < this.#nextAt) return undefined;
    this.#nextAt = performance.now() + this.#everyMs;
    const status = await this.#deps.keeper.status(this.#ref).catch(unlessLost);
    return status?.state === 'live' ? this.#look(status) : undefined;
  }

  async #look({ stderrBytes, cpuMs }: { stderrBytes: number; cpuMs?: number | undefined }): Promise<Halt | undefined> {
    const { follower, wire } = this.#run;
    const { fresh, repeated } = await this.#output.look({ stdout: follower.read, stderr: stderrBytes });
    // Some CLIs print a message only when it is whole: what their model says counts as it comes.
    const news = fresh + follower.steps + (wire.live?.answered ?? 0);
    if (!follower.tool) this.#repeated.idle += repeated - this.#repeated.all;
    this.#repeated.all = repeated;
    const sign = { now: performance.now(), news, repeated: this.#repeated.idle, cpuMs };
    const said = { follower, stderrBytes };
    if (this.#asking.sample(sign) === 'quiet') {
      if ((await askedBy(this.#deps, this.#ref))?.ok) return { reason: 'asked' };
      const prompt = await promptedFor(this.#deps, this.#ref, said);
      if (prompt !== undefined) return { reason: 'waiting-for-permission', why: prompt };
    }
    return this.#idle.sample(sign) === 'quiet' ? this.#unlessFilesChange(said) : undefined;
  }

  async #unlessFilesChange(said: { follower: Follower; stderrBytes: number }): Promise<Halt | undefined> {
    const [deps, ref] = [this.#deps, this.#ref];
    const { live } = this.#run.wire;
    const since = Date.now() - (performance.now() - this.#idle.since);
    if ((await newestChange(deps.home.run(ref.taskId, ref.runId).tree, since)) > since) {
      this.#idle.stirred(performance.now());
      return undefined;
    }
    // An agent that waits for its model, or before it asks that again, is not to blame.
    if (live && (live.open > 0 || isLimit(live.sum.failed?.failure))) return { reason: 'overloaded' };
    const asked = await askedFor(deps, ref, said);
    if (asked !== undefined) return { reason: 'waiting-for-permission', why: asked };
    const last = await lastSaid(deps, ref, said);
    return { reason: 'stalled', ...(last === undefined ? {} : { why: last }) };
  }
}

const isLimit = (failure: CoderFailure | undefined): boolean => failure === 'rate-limited' || failure === 'overloaded';
