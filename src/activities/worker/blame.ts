import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { GitFailed } from '../../adapters/git/git.ts';
import { failGit, gitBroken } from '../../adapters/git/failures.ts';
import { GlobTooSlow } from '../../adapters/glob.ts';
import { SubmoduleRefused } from '../../adapters/git/worktree/lay-submodules.ts';
import { within } from '../../adapters/paths.ts';
import type { RunRecord } from '../../adapters/state/run-record.ts';
import { isDiskTrouble } from '../../adapters/disk/free-space.ts';
import { FAILURES, type Failure } from '../../domain/agent/failure.ts';
import { LOCAL_RUNS } from '../../domain/view/decide.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import { MACHINE_FAULT } from '../../domain/worker/worker.ts';
import type { Deps } from './context.ts';
import { heartbeating } from './heartbeat.ts';
import { isUnmet, othersFor } from './others.ts';

type Movable = Pick<RunRecord, 'taskId' | 'wanting'>;
type Answer = { ok: false; failure: Failure } | { ok: true };

/**
 * Does one step of a run, and says what a failure of it is owed to: where the machine turns out not to work that is the reason,
 * whatever else it looked like. `run`: nothing of it is lost yet if another worker has it instead.
 * @throws `MACHINE_FAULT` in place of what was thrown, where that is so, and where a glob takes too long
 */
export async function onSoundMachine<T>(deps: Deps, work: () => Promise<T>, run?: Movable): Promise<T> {
  try {
    const answer = await work();
    if (!isFailed(answer)) return answer;
    return { ...answer, failure: await blamed(deps, answer.failure, run) };
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
export async function blamed(deps: Deps, failure: Failure, run: Movable | undefined): Promise<Failure> {
  if (!('local' in FAILURES[failure.reason])) return failure;
  const fault = await faultOf(deps);
  if (fault || !run?.wanting) return fault ?? failure;
  const { taskId, wanting } = run;
  const others = await othersFor(deps, wanting);
  deps.fitness.met(failure, { taskId, repo: wanting.repo }, others);
  // What so many have met is not theirs.
  const tries = (wanting.met?.runs ?? 0) + 1 < LOCAL_RUNS;
  return tries && others.some((other) => isUnmet(other, wanting)) ? { ...failure, local: true } : failure;
}

/** Undefined: what was thrown is no word on the machine, nor on what the task or its repository asks for. */
async function thrown(deps: Deps, error: unknown): Promise<Failure | undefined> {
  if (error instanceof GlobTooSlow) return { reason: 'invalid-task', message: error.message };
  return isTold(error) ? undefined : faultOf(deps);
}

/** Thrown on purpose, or because the worker lets go of the run. */
const isTold = (error: unknown): boolean =>
  error instanceof ApplicationFailure ||
  error instanceof CancelledFailure ||
  Context.current().cancellationSignal.aborted;

/** A step before any agent has run: what throws there, but for want of room, ends the run by what it is owed to. */
export async function beforeAgent<T>(
  deps: Deps,
  ref: RunRef,
  work: () => Promise<T>,
): Promise<T | Extract<Answer, { ok: false }>> {
  try {
    return await work();
  } catch (error) {
    if (isTold(error) || isDiskTrouble(error)) throw error;
    return { ok: false, failure: causeOf(deps, ref, error) };
  }
}

/** Codes of a path that is not readable, or too long for the file system. */
const UNUSABLE: readonly (string | undefined)[] = ['EACCES', 'EPERM', 'ENAMETOOLONG'];

/** A git that works and refuses has met the repository; a path that cannot be used, and is none of ours, is the repository's or its setup's. */
function causeOf(deps: Deps, ref: RunRef, error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof GitFailed)
    return error.broken === undefined
      ? failGit(error, 'repo-unavailable', 'the worktree cannot be made').failure
      : faulty(deps, gitBroken(error.broken));
  if (error instanceof GlobTooSlow) return { reason: 'invalid-task', message };
  if (error instanceof SubmoduleRefused) return { reason: 'repo-unavailable', message };
  const { code, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (UNUSABLE.includes(code) && path !== undefined && !isOurs(deps, ref, path))
    return { reason: 'setup-failed', message: `the worktree cannot be made: ${message}` };
  return faulty(deps, message);
}

/** In this worker's home, but for the tree of the run. */
const isOurs = ({ home }: Deps, { taskId, runId }: RunRef, path: string): boolean =>
  within(home.root, path) && !within(home.run(taskId, runId).tree, path);

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
