import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { GitFailed } from '../../adapters/git/git.ts';
import { gitBroken } from '../../adapters/git/outcome.ts';
import { isDiskTrouble } from '../../adapters/space.ts';
import type { Wanting } from '../../domain/claim.ts';
import { FAILURES, type Failure } from '../../domain/failure.ts';
import { LOCAL_RUNS } from '../../domain/policy.ts';
import { MACHINE_FAULT } from '../../domain/worker.ts';
import type { Attached, Deps } from '../context.ts';
import { heartbeating } from '../heartbeat.ts';
import { isUnmet, othersFor } from './others.ts';

/** Whether this worker is fit for runs. */
export interface Fitness {
  /** Uses what every run needs, now. One sentence on what does not work: the worker takes no new work until that works again. */
  fault(): Promise<string | undefined>;
  /** A run ended by what may be this worker's own, although the machine works; `others` could have had it. */
  met(failure: Failure, others: readonly Attached[]): void;
  /** A run has got as far as only a sound worker gets it. */
  proved(): void;
  /** Runs in a row that ended by what may be its own. */
  readonly inARow: number;
}

type Answer = { ok: false; failure: Failure } | { ok: true };

/**
 * Does one step of a run, and says what a failure of it is owed to: where the machine turns out not to work that is the reason,
 * whatever else it looked like. `wanting`: nothing is lost yet if another worker has the run instead.
 * @throws `MACHINE_FAULT` in place of what was thrown, where that is so
 */
export async function onSoundMachine<T>(deps: Deps, work: () => Promise<T>, wanting?: Wanting): Promise<T> {
  try {
    const answer = await work();
    if (!isFailed(answer)) return answer;
    return { ...answer, failure: await blamed(deps, answer.failure, wanting) };
  } catch (error) {
    const failure = await thrown(deps, error);
    if (!failure) throw error;
    throw ApplicationFailure.create({
      message: failure.message,
      type: MACHINE_FAULT,
      nonRetryable: true,
      details: [failure],
    });
  }
}

const isFailed = (answer: unknown): answer is Extract<Answer, { ok: false }> =>
  typeof answer === 'object' && answer !== null && 'failure' in answer && (answer as { ok?: unknown }).ok === false;

/** The failure as it is, the machine's in its place, or with the word that another worker may do better. */
async function blamed(deps: Deps, failure: Failure, wanting: Wanting | undefined): Promise<Failure> {
  if (!('local' in FAILURES[failure.reason])) return failure;
  const fault = await faultOf(deps);
  if (fault || !wanting) return fault ?? failure;
  const others = await othersFor(deps, wanting);
  deps.fitness.met(failure, others);
  // What so many have met is not theirs.
  const tries = (wanting.met?.runs ?? 0) + 1 < LOCAL_RUNS;
  return tries && others.some((other) => isUnmet(other, wanting)) ? { ...failure, local: true } : failure;
}

/** Undefined: what was thrown is no word on the machine. */
async function thrown(deps: Deps, error: unknown): Promise<Failure | undefined> {
  return isTold(error) ? undefined : faultOf(deps);
}

/** Thrown on purpose, or because the worker lets go of the run. */
const isTold = (error: unknown): boolean =>
  error instanceof ApplicationFailure ||
  error instanceof CancelledFailure ||
  Context.current().cancellationSignal.aborted;

/** A step before any agent has run: what throws there, but for want of room, is a fault of the machine's. */
export async function beforeAgent<T>(deps: Deps, work: () => Promise<T>): Promise<T | Extract<Answer, { ok: false }>> {
  try {
    return await work();
  } catch (error) {
    if (isTold(error) || isDiskTrouble(error)) throw error;
    const broken = error instanceof GitFailed ? error.broken : undefined;
    const why = broken === undefined ? (error instanceof Error ? error.message : String(error)) : gitBroken(broken);
    return { ok: false, failure: faulty(deps, why) };
  }
}

/** Heard by the server meanwhile: a machine that does not work may be slow as well. */
export async function faultOf(deps: Deps): Promise<Failure | undefined> {
  const fault = await heartbeating(
    () => null,
    () => deps.fitness.fault(),
  );
  return fault === undefined ? undefined : faulty(deps, fault);
}

const faulty = ({ worker }: Deps, why: string): Failure => ({
  reason: 'machine-fault',
  message: `worker ${worker.name}: ${why}`,
});
