import { readJson } from '../adapters/json-file.ts';
import type { Choice } from '../domain/route.ts';
import type { RunRef } from '../domain/run.ts';
import type { AgentOutcome } from '../domain/outcome.ts';
import type { Reach, SeatReport } from '../domain/seats.ts';
import type { Presence } from './attend.ts';
import type { Deps } from './context.ts';

/** What a worker knows of its credentials, and how it takes their seats: see the workflow `fleetCredential`. */
export interface SeatDesk {
  /** Names of the credentials of a coder here, in the order of the configuration. */
  of(coder: string): string[];
  /** Why no run of the coder can have a seat, as far as is known without asking; undefined where one may. */
  closed(coder: string): Closed | undefined;
  /** Asks for a seat of one credential. A string says why there is none. */
  take(credential: string, ref: RunRef): Promise<true | string>;
  giveBack(credential: string, back: RunRef & { tokens: number }): Promise<void>;
  /** Tells of a limit or a refusal; goes on trying where the server does not answer. */
  report(credential: string, report: SeatReport): Promise<void>;
  /** Whether another credential of that coder that was not refused is left, here or on another worker. */
  others(given: Reach & { credential: string; coder: string }): Promise<boolean>;
  /** The first that neither rests nor was refused, without a seat: for a reviewer. */
  first(coder: string): string | null;
  /** Whether the credential's state attends to this worker. */
  presence(credential: string): Presence;
}

/** A coder that gets no run here for now. */
export interface Closed {
  coder: string;
  /** One sentence. */
  why: string;
  /** ISO, where it passes by itself. */
  until?: string;
  /** All that is wrong is that its seats are taken. */
  full?: true;
}

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
