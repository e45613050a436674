import { readWire } from '../../adapters/proxy/wire-file.ts';
import { findProgram } from '../../adapters/program/find-program.ts';
import { readJson, writeJson } from '../../adapters/disk/json-file.ts';
import { failpoint } from '../../adapters/failpoint.ts';
import { readSegments } from '../../adapters/state/log-segments.ts';
import { blockedIn } from '../../domain/agent/blocked-marker.ts';
import { whyUnpriced } from '../../domain/agent/cost.ts';
import { bothEnds } from '../../domain/agent/event.ts';
import { FAILURES } from '../../domain/agent/failure.ts';
import { neverWorked, type AgentOutcome, type ExitRecord, type StopReason } from '../../domain/run/outcome.ts';
import type { Launched, RunRef } from '../../domain/view/task-view.ts';
import { withoutKeys } from '../../domain/secrets/redact-keys.ts';
import { endedBy, sumOf } from '../../domain/agent/model-traffic.ts';
import type { Coder } from '../../ports.ts';
import { askedFor, lastSaid } from '../output/detect-prompt.ts';
import { missing, endOf, type Deps } from '../worker/context.ts';
import { Follower } from '../output/event-follower.ts';
import { wirePlace } from '../output/model-calls.ts';
import { persist } from '../worker/persist.ts';
import { holdWhileUnkillable, unclean } from './unkillable.ts';
import { askedBy, proposedBy } from '../output/outbox.ts';
import { modelOf, usageOf } from '../output/usage.ts';

const CLAIM_MAX = 2_000;
/** How many bytes at the end of an unstructured coder's output are searched for its last line. */
const TAIL_BYTES = 4_096;
/** Milliseconds before an agent's end in which a full disk may have been its cause. */
const FULL_MS = 10_000;

/**
 * What an agent's end and its output say, kept with the run. Only what the worker sees for itself makes it anybody else's
 * fault: the agent chooses its exit code and its output.
 */
export async function conclude(
  deps: Deps,
  ref: RunRef,
  { exit, follower, coder, why }: { exit: ExitRecord; follower: Follower; coder: Coder; why?: string },
): Promise<Launched> {
  if (exit.unclean) {
    await holdWhileUnkillable(deps);
    return { ok: false, failure: unclean(exit) };
  }
  if (exit.exitCode !== 0 && !exit.stopped && !(await findProgram(coder.command[0] ?? '', deps.env)))
    return { ok: false, failure: missing(deps, coder.name) };
  const record = deps.registry.find(ref);
  const log = record ? readWire(deps.home.task(ref.taskId).runOf(record.n).wire) : null;
  const wire = sumOf(log);
  const unable = wire.exchanges === 0 && coder.structured ? neverWorked(exit) : undefined;
  if (unable) return { ok: false, failure: { reason: 'machine-fault', message: `coder ${coder.name} ${unable}` } };
  if (wire.exchanges > 0) follower.wired = wire;
  // Where the wire can be seen, what the agent says of its account counts for nothing.
  const quota = log?.unseen === null ? wire.used : follower.quota;
  const broke = exit.exitCode !== 0 && exit.stopped === null;
  const ended = endedBy(
    follower.ended && { ok: follower.ended.ok, failure: follower.ended.failure ?? null },
    log,
    broke && coder.structured,
  );
  const tail = coder.structured ? undefined : await outputTail(deps, ref, exit);
  const said = withoutKeys(tail ?? (follower.ended?.text || follower.text));
  const last = tail === undefined ? (follower.ended?.ok ? said : '') : lastLine(said);
  const full = await fullDisk(deps, ref, exit);
  const usage = usageOf(deps, follower, { record, coder });
  const model = modelOf(follower, { record, coder });
  const blocked = full.stopped || exit.stopped ? undefined : blockedIn(last);
  const outcome: AgentOutcome = {
    ...exit,
    ...full,
    session: follower.session,
    model,
    ended,
    claim: bothEnds(said, CLAIM_MAX),
    ...(exit.stopped === 'over-budget' && !full.why
      ? whyUnpriced(usage, { model, limitUsd: record?.prepared?.policy.limits.costUsd, prices: deps.config.prices })
      : {}),
    ...(await whyStopped(deps, ref, { exit, follower, why })),
    ...(await leftInOutbox(deps, ref, exit)),
    ...(exit.stopped === 'overloaded' ? { why: 'its model was asked, and sent nothing for the whole idle limit' } : {}),
    ...(blocked === undefined ? {} : { blocked }),
    ...(follower.refused.length > 0 ? { refused: follower.refused } : {}),
    ...(quota ? { quota } : {}),
    // Where the wire was seen, the server's own word counts.
    until: log?.unseen === null ? (ended?.ok === false && wire.failed?.until) || null : follower.until,
    usage,
  };
  await persist(deps, async () => {
    await follower.flush();
    await writeJson(deps.home.run(ref.taskId, ref.runId).outcome, outcome);
  });
  failpoint('launch.outcome-written');
  return { ok: true, outcome };
}

/** `why` is from before it was stopped: what a program prints as it dies would stand in its place. */
async function whyStopped(
  deps: Deps,
  ref: RunRef,
  { exit, follower, why }: { exit: ExitRecord; follower: Follower; why: string | undefined },
): Promise<Pick<AgentOutcome, 'why'>> {
  const said = { follower, stderrBytes: exit.stderr.bytes };
  if (exit.stopped === 'waiting-for-permission') {
    const asked = why ?? (await askedFor(deps, ref, said));
    return asked === undefined ? {} : { why: withoutKeys(asked) };
  }
  if (exit.stopped !== 'stalled') return {};
  const last = why ?? (await lastSaid(deps, ref, said));
  return last === undefined ? {} : { why: `${FAILURES.stalled.meaning}; it said last:\n${withoutKeys(last)}` };
}

/** Its limits and its worker may end an agent that has asked and goes on waiting; nothing counts of one that lost its task. */
const ASKING: readonly (StopReason | null)[] = [null, 'asked', 'stalled', 'waiting-for-permission'];

async function leftInOutbox(deps: Deps, ref: RunRef, { stopped }: ExitRecord): Promise<Partial<AgentOutcome>> {
  if (!ASKING.includes(stopped)) return {};
  const asked = await askedBy(deps, ref);
  const { followUps, wrong } = await proposedBy(deps, ref);
  return {
    ...(asked?.ok ? { asked: asked.value } : asked ? { misasked: asked.message } : {}),
    ...(followUps.length > 0 ? { followUps } : {}),
    ...(wrong.length > 0 ? { misproposed: wrong } : {}),
  };
}

/** The end of what a coder without a protocol printed: the nearest to a last message. */
async function outputTail(deps: Deps, ref: RunRef, exit: ExitRecord): Promise<string> {
  const n = deps.registry.find(ref)?.n ?? 0;
  const log = { dir: deps.home.task(ref.taskId).runOf(n).logs, stream: 'stdout' as const };
  const { bytes } = await readSegments(log, Math.max(0, exit.stdout.bytes - TAIL_BYTES), TAIL_BYTES);
  return bytes.toString('utf8').trim();
}

const lastLine = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.trim())
    .at(-1) ?? '';

/** What the disk had to do with the end: an agent that fails while it is full is not to blame, but for its own excess. */
async function fullDisk(deps: Deps, ref: RunRef, exit: ExitRecord): Promise<Partial<AgentOutcome>> {
  if (exit.stopped) {
    const why = deps.disk.why(ref.runId, exit.stopped);
    return why ? { why } : {};
  }
  if (exit.exitCode === 0 || !(await deps.disk.wasFullSince(performance.now() - FULL_MS))) return {};
  const limit = deps.registry.find(ref)?.prepared?.policy.limits.diskBytes ?? Number.POSITIVE_INFINITY;
  const excess = await deps.disk.excess(ref, limit);
  if (excess) return { stopped: 'over-budget', why: excess };
  return { stopped: 'disk', why: `it ended with ${exit.signal ?? exit.exitCode} while the disk was full` };
}

/** The outcome of a run whose agent has ended, also while nobody followed it; undefined where it was never launched. */
export async function concludeAbandoned(deps: Deps, ref: RunRef): Promise<AgentOutcome | undefined> {
  const known = await readJson<AgentOutcome>(deps.home.run(ref.taskId, ref.runId).outcome);
  const record = deps.registry.find(ref);
  const coder = record && deps.knownCoders.get(record.coder);
  if (known || !coder || !record.prepared) return known ?? undefined;
  const end = await endOf(deps.keeper, ref);
  if (end.state !== 'ended') return undefined;
  await persist(deps, () => deps.proxy.close(wirePlace(deps, ref)));
  const follower = await Follower.open(deps.home.task(ref.taskId).runOf(record.n), coder);
  await follower.drain(true);
  const launched = await conclude(deps, ref, { exit: end.exit, follower, coder });
  return launched.ok ? launched.outcome : undefined;
}
