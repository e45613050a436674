import { readJson } from '../../adapters/disk/json-file.ts';
import type { Choice } from '../../domain/routing/route.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { AgentOutcome } from '../../domain/run/outcome.ts';
import type { Deps } from '../worker/context.ts';

/**
 * A seat for a run about to be claimed: of the credential that was chosen for it, or the first of its coder that has one.
 * Null where its coder has none configured: it then runs as the worker does. No answer takes the place of a yes.
 */
export async function takeSeat(
  { seats, worker }: Pick<Deps, 'seats' | 'worker'>,
  ref: RunRef,
  { coder, credential }: Pick<Choice, 'coder' | 'credential'>,
): Promise<{ ok: true; credential: string | null } | { ok: false; why: string; until?: string }> {
  const known = seats.of(coder);
  if (credential !== undefined && !known.includes(credential))
    return { ok: false, why: `${worker.name} has no credential ${credential} of ${coder}` };
  if (known.length === 0) return { ok: true, credential: null };
  const closed = seats.closed(coder);
  if (closed) return { ok: false, ...closed };
  let why: string | undefined;
  for (const name of credential === undefined ? known : [credential]) {
    const taken = await seats.take(name, ref);
    if (taken === true) return { ok: true, credential: name };
    why ??= taken;
  }
  return { ok: false, why: why ?? 'no seat is free' };
}

/** The run is over, and what it used is known. */
export async function returnSeat(deps: Deps, ref: RunRef): Promise<void> {
  const credential = deps.registry.find(ref)?.credential;
  if (!credential) return;
  const outcome = await readJson<AgentOutcome>(deps.home.run(ref.taskId, ref.runId).outcome);
  const { inputTokens = 0, outputTokens = 0 } = outcome?.usage ?? {};
  await deps.seats.giveBack(credential, { ...ref, tokens: inputTokens + outputTokens });
}
