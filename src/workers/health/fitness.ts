import type { Deps } from '../../activities/worker/context.ts';
import type { Attached, Fitness } from '../../activities/worker/services.ts';
import { checkMachine } from '../../adapters/sandbox/check-machine.ts';
import type { Failure } from '../../domain/agent/failure.ts';

/** Between looks at a machine that does not work. */
const AGAIN_MS = 10_000;
/** Runs in a row of so many tasks that end by what may be the worker's own, where others do better, are no chance. */
const TASKS = 3;
/** Where it may as well be the repository's they are of so many. */
const REPOSITORIES = 2;
/** Since so long a worker may have proved itself to be one that does better. */
const LATELY_MS = 60 * 60_000;
/** The first rest after those; each further run that ends so doubles it. */
const REST_MS = 60_000;
const LONGEST_REST_MS = 30 * 60_000;

/** Causes of a hold. */
const BROKEN = 'machine';
const UNLUCKY = 'runs';

/**
 * Keeps work from a worker that cannot do it. A machine whose check fails takes nothing in until the check passes. One whose check
 * passes, and whose runs fail all the same where those of others do not, rests, and then tries again.
 */
export class FitnessGuard implements Fitness {
  readonly #given: Pick<Deps, 'home' | 'isolation' | 'holds' | 'log'>;
  #looking: Promise<string | undefined> | undefined;
  #again: NodeJS.Timeout | undefined;
  #rest: NodeJS.Timeout | undefined;
  #rests = 0;
  #stopped = false;
  #met: { taskId: string; repo: string | null }[] = [];
  provedAt: string | undefined;

  constructor(given: Pick<Deps, 'home' | 'isolation' | 'holds' | 'log'>) {
    this.#given = given;
  }

  fault(): Promise<string | undefined> {
    return (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)));
  }

  get inARow(): number {
    return this.#met.length;
  }

  met({ reason, message }: Failure, of: { taskId: string; repo: string | null }, others: readonly Attached[]): void {
    this.#met.push(of);
    if (this.#rest || this.#stopped || new Set(this.#met.map(({ taskId }) => taskId)).size < TASKS) return;
    const repositories = new Set(this.#met.map(({ repo }) => repo)).size;
    if (reason !== 'machine-fault' && (repositories < REPOSITORIES || !others.some(doesBetter))) return;
    const restMs = Math.min(LONGEST_REST_MS, REST_MS * 2 ** this.#rests);
    this.#rests += 1;
    this.#rest = setTimeout(() => this.#rested(), restMs);
    const row = `${this.inARow} runs in a row could not be done here`;
    this.#hold(UNLUCKY, `${row}, the last as ${message}; it tries again after ${restMs / 1_000} s`);
  }

  proved(): void {
    this.#met = [];
    this.provedAt = new Date().toISOString();
    this.#rests = 0;
    this.#rested();
  }

  /** Ends the looks. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#again);
    clearTimeout(this.#rest);
    await this.#looking;
  }

  #rested(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
    this.#hold(UNLUCKY, null);
  }

  async #look(): Promise<string | undefined> {
    const fault = await checkMachine(this.#given);
    clearTimeout(this.#again);
    if (this.#stopped) return fault;
    if (fault) this.#again = setTimeout(() => void this.fault(), AGAIN_MS);
    this.#hold(BROKEN, fault === undefined ? null : `${fault}; it looks again every ${AGAIN_MS / 1_000} s`);
    return fault;
  }

  #hold(cause: string, reason: string | null): void {
    const { holds, log } = this.#given;
    if (reason && !holds.has(cause)) log(`no new work is taken in: ${reason}`);
    if (!reason && holds.has(cause)) log(`new work is taken in again (${cause})`);
    holds.set(cause, reason);
  }
}

const doesBetter = ({ view }: Attached): boolean =>
  view?.provedAt !== undefined && !view.failedInARow && Date.now() - Date.parse(view.provedAt) < LATELY_MS;
