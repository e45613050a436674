import { toMs } from '../../domain/values/duration.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Deps } from '../worker/context.ts';
import { keepWork } from '../save/save-work.ts';
import { shareWork } from '../save/push-wip.ts';

/** Saves a live run's work every `worker.checkpoint`, in the background. */
export class Checkpoints {
  readonly #deps: Deps;
  readonly #ref: RunRef;
  readonly #everyMs: number;
  #nextMs: number;
  #busy = false;
  #saving: Promise<unknown> = Promise.resolve();
  readonly #over = new AbortController();

  constructor(deps: Deps, ref: RunRef) {
    this.#deps = deps;
    this.#ref = ref;
    this.#everyMs = toMs(deps.config.worker.checkpoint);
    this.#nextMs = performance.now() + this.#everyMs;
  }

  /** Begins one where it is time. Its faults never end a run. */
  tick(): void {
    if (this.#busy || performance.now() < this.#nextMs) return;
    this.#busy = true;
    this.#saving = this.#save()
      .catch((error: unknown) => this.#deps.log(`checkpoint of run ${this.#ref.runId}: ${String(error)}`))
      .finally(() => {
        this.#busy = false;
        this.#nextMs = performance.now() + this.#everyMs;
      });
  }

  /** Resolves when none is at work any more; what is on its way to the remote is given up, as the run's end is next. */
  async settled(): Promise<void> {
    this.#over.abort();
    await this.#saving;
  }

  async #save(): Promise<void> {
    const kept = await keepWork(this.#deps, this.#ref);
    if (kept) await shareWork(this.#deps, this.#ref, { record: kept, signal: this.#over.signal });
  }
}
