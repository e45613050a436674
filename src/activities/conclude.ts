import { findProgram } from '../adapters/find-program.ts';
import { readJson, writeJson } from '../adapters/json-file.ts';
import { failpoint } from '../adapters/failpoint.ts';
import type { Failure } from '../domain/failure.ts';
import type { AgentOutcome, ExitRecord, Launched, RunRef } from '../domain/run.ts';
import type { Coder } from '../ports.ts';
import { endOf, type Deps } from './context.ts';
import { Follower } from './follow.ts';
import { persist } from './persist.ts';
import { holdWhileUnkillable, unclean } from './unclean.ts';

const CLAIM_MAX = 2_000;

/**
 * What an agent's end and its output say, kept with the run. Only what the worker sees for itself makes it anybody else's
 * fault: the agent chooses its exit code and its output.
 */
export async function conclude(
  deps: Deps,
  ref: RunRef,
  { exit, follower, coder }: { exit: ExitRecord; follower: Follower; coder: Coder },
): Promise<Launched> {
  if (exit.unclean) {
    await holdWhileUnkillable(deps);
    return { ok: false, failure: unclean(exit) };
  }
  if (exit.exitCode !== 0 && !exit.stopped && !(await findProgram(coder.command[0] ?? '', deps.env)))
    return { ok: false, failure: missing(deps, coder.name) };
  const task = deps.registry.find(ref)?.prepared?.task;
  const why = exit.stopped ? deps.disk.why(ref.runId, exit.stopped) : undefined;
  const outcome: AgentOutcome = {
    ...exit,
    ...(why ? { why } : {}),
    session: follower.session,
    model: follower.model ?? task?.model ?? coder.model ?? null,
    ended: follower.ended && { ok: follower.ended.ok, failure: follower.ended.failure ?? null },
    claim: (follower.ended?.text || follower.text).slice(0, CLAIM_MAX),
    until: follower.until,
    usage: follower.usage,
  };
  await persist(deps, async () => {
    await follower.flush();
    await writeJson(deps.home.run(ref.taskId, ref.runId).outcome, outcome);
  });
  failpoint('launch.outcome-written');
  return { ok: true, outcome };
}

/** The outcome of a run whose agent has ended, also while nobody followed it; undefined where it was never launched. */
export async function concludeAbandoned(deps: Deps, ref: RunRef): Promise<AgentOutcome | undefined> {
  const known = await readJson<AgentOutcome>(deps.home.run(ref.taskId, ref.runId).outcome);
  const record = deps.registry.find(ref);
  const coder = record && deps.knownCoders.get(record.coder);
  if (known || !coder || !record.prepared) return known ?? undefined;
  const end = await endOf(deps.keeper, ref);
  if (end.state !== 'ended') return undefined;
  const follower = await Follower.open(deps.home.task(ref.taskId).runOf(record.n), coder);
  await follower.drain(true);
  const launched = await conclude(deps, ref, { exit: end.exit, follower, coder });
  return launched.ok ? launched.outcome : undefined;
}

export const missing = ({ worker }: Deps, coder: string): Failure => ({
  reason: 'coder-missing',
  message: `the program of coder ${coder} is not on ${worker.name}`,
});
