import type { Attached, Deps } from '../activities/context.ts';
import type { Fitness } from '../activities/worker/blame.ts';
import { checkMachine } from '../adapters/program/check-machine.ts';
import type { Failure } from '../domain/failure.ts';

/** Between looks at a machine that does not work. */
const AGAIN_MS = 10_000;
/** So many runs in a row that end by what may be the worker's own, where others do better, are no chance. */
const IN_A_ROW = 3;
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
  inARow = 0;

  constructor(given: Pick<Deps, 'home' | 'isolation' | 'holds' | 'log'>) {
    this.#given = given;
  }

  fault(): Promise<string | undefined> {
    return (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)));
  }

  met({ reason, message }: Failure, others: readonly Attached[]): void {
    this.inARow += 1;
    const better = others.some(({ view }) => !view?.failedInARow);
    if (this.inARow < IN_A_ROW || this.#rest || this.#stopped || !(better || reason === 'machine-fault')) return;
    const restMs = Math.min(LONGEST_REST_MS, REST_MS * 2 ** this.#rests);
    this.#rests += 1;
    this.#rest = setTimeout(() => this.#rested(), restMs);
    const row = `${this.inARow} runs in a row could not be done here`;
    this.#hold(UNLUCKY, `${row}, the last as ${message}; it tries again after ${restMs / 1_000} s`);
  }

  proved(): void {
    this.inARow = 0;
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
