import type { RunRef } from '../../domain/view/task-view.ts';
import type { Outcome, Tally } from '../../domain/worker/worker.ts';
import { readJson, writeJson } from '../disk/json-file.ts';

interface Kept {
  /** ISO */
  since: string;
  /** How many runs ended so; those in `runs` come on top. */
  ended: Record<Outcome, number>;
  /** By run id; null is live. A run that has ended stays until its folder is gone: its release may be repeated. */
  runs: Record<string, Outcome | null>;
}

/**
 * Counts what became of the runs of a worker, on disk, so that a restart loses none. Whatever is taken in ends in one
 * outcome: of a run that left no trace it is `handedOver`, as its task was claimed anew.
 */
export class DrainCounts {
  readonly #path: string;
  readonly #held: (runId: string) => boolean;
  #kept: Kept;

  private constructor(path: string, held: (runId: string) => boolean, kept: Kept) {
    this.#path = path;
    this.#held = held;
    this.#kept = kept;
  }

  /** `held`: whether the run still has its folder here. */
  static async open(path: string, held: (runId: string) => boolean): Promise<DrainCounts> {
    // A file that a crash of the disk spoilt must not keep the worker from starting.
    const kept = await readJson<Kept>(path).catch(() => undefined);
    const anew = fresh();
    const book = new DrainCounts(path, held, kept ? { ...kept, ended: { ...anew.ended, ...kept.ended } } : anew);
    book.#fold();
    return book;
  }

  /** Its task has received the claim. */
  async tookIn({ runId }: RunRef): Promise<void> {
    if (this.#kept.runs[runId] !== undefined || !this.#held(runId)) return;
    this.#kept.runs[runId] = null;
    await this.#write();
  }

  /** To be said before the run's folder goes. The first outcome stays. */
  async ended({ runId }: RunRef, outcome: Outcome): Promise<void> {
    this.#fold();
    this.#kept.runs[runId] ??= outcome;
    await this.#write();
  }

  /** Whether a run was counted; one whose claim never reached its task was not. */
  counts({ runId }: RunRef): boolean {
    return this.#kept.runs[runId] !== undefined;
  }

  read(): Tally {
    const { since, ended, runs } = this.#kept;
    const all = { ...ended };
    const outcomes = Object.entries(runs).map(
      ([runId, outcome]) => outcome ?? (this.#held(runId) ? 'live' : 'handedOver'),
    );
    for (const outcome of outcomes) if (outcome !== 'live') all[outcome] += 1;
    const live = outcomes.filter((outcome) => outcome === 'live').length;
    const takenIn = outcomes.length + Object.values(ended).reduce((sum, count) => sum + count, 0);
    return { since, takenIn, ...all, live };
  }

  /** After a finished drain. */
  async beginAnew(): Promise<void> {
    this.#kept = fresh();
    await this.#write();
  }

  #fold(): void {
    for (const [runId, outcome] of Object.entries(this.#kept.runs)) {
      if (this.#held(runId)) continue;
      this.#kept.ended[outcome ?? 'handedOver'] += 1;
      delete this.#kept.runs[runId];
    }
  }

  /** A full disk costs the count after a restart, and nothing else. */
  async #write(): Promise<void> {
    await writeJson(this.#path, this.#kept).catch(() => undefined);
  }
}

const fresh = (): Kept => ({
  since: new Date().toISOString(),
  ended: { done: 0, failed: 0, cancelled: 0, parked: 0, handedOver: 0, kept: 0 },
  runs: {},
});
