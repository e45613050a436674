import { CancelledFailure, Context } from '@temporalio/activity';
import { newestChange } from '../adapters/file-changes.ts';
import type { Prepared } from '../adapters/run-registry.ts';
import type { Usage } from '../domain/event.ts';
import type { CoderFailure } from '../domain/event.ts';
import type { ExitRecord, RunRef, StopReason } from '../domain/run.ts';
import { askedFor, promptedFor } from './asking.ts';
import { Checkpoints } from './checkpoint.ts';
import { endOf, endRun, unlessLost, type Deps } from './context.ts';
import type { Follower } from './follow.ts';
import { isTaskCancelled } from './heartbeat.ts';
import { IdleClock } from './idle.ts';
import { turns } from './turns.ts';
import { askedBy } from './outbox.ts';
import { persist, unlessDisk } from './persist.ts';
import type { WireWatch } from './wire-watch.ts';

const POLL_MS = 200;
/** Of silence, before a prompt counts as one, or an agent that has asked a person as one that only waits. */
const ASKING_MS = 30_000;

interface Supervised {
  follower: Follower;
  prepared: Prepared;
  /** What it has used so far, with its cost. */
  used(): Usage;
  wire: WireWatch;
}

/** Follows the agent until nothing of its process tree lives, and stops it at its limits. Undefined: its keeper is gone. */
export async function superviseAgent(deps: Deps, ref: RunRef, run: Supervised): Promise<ExitRecord | undefined> {
  const checkpoints = new Checkpoints(deps, ref);
  try {
    return await supervise(deps, ref, { ...run, checkpoints });
  } finally {
    await checkpoints.settled();
  }
}

async function supervise(
  deps: Deps,
  ref: RunRef,
  { follower, prepared, used, wire, checkpoints }: Supervised & { checkpoints: Checkpoints },
): Promise<ExitRecord | undefined> {
  const { keeper, home } = deps;
  const { limits } = prepared.policy;
  const files = home.run(ref.taskId, ref.runId);
  const context = Context.current();
  const ended = endOf(keeper, ref, context.cancellationSignal);
  const next = turns({ ended, cancelled: context.cancelled }, POLL_MS);
  const idle = new IdleClock(limits.idleMs, performance.now());
  const idleEveryMs = Math.min(30_000, Math.max(500, limits.idleMs / 20));
  let nextIdle = performance.now() + idleEveryMs;
  const asking = new IdleClock(Math.min(ASKING_MS, limits.idleMs / 2), performance.now());
  let stopping: StopReason | undefined;
  const stop = (reason: StopReason) => {
    if (stopping) return;
    stopping = reason;
    keeper.stop({ ...ref, reason }).catch(() => undefined);
  };

  for (;;) {
    const end = await next();
    if (end === 'cancelled') {
      if (!isTaskCancelled()) throw new CancelledFailure('the worker lets go of this run; its agent goes on');
      await endRun(deps, ref, 'cancelled');
      throw new CancelledFailure('the task was cancelled');
    }
    if (end !== 'tick') {
      await persist(deps, () => follower.drain(true));
      return end.state === 'ended' ? end.exit : undefined;
    }
    // What cannot be read for want of file descriptors is read later.
    await follower.drain(false).catch(unlessDisk);

    if (deps.holds.stopsAgents) stop('killed');
    checkpoints.tick();
    wire.tick();
    follower.wired = wire.live?.sum.usage;
    const usage = used();
    if (limits.tokens && usage.inputTokens + usage.outputTokens > limits.tokens) stop('over-budget');
    if (limits.costUsd && usage.costUsd > limits.costUsd) stop('over-budget');
    if (follower.waiting) stop('waiting-for-permission');
    if (performance.now() < nextIdle) continue;
    nextIdle = performance.now() + idleEveryMs;
    const status = await keeper.status(ref).catch(unlessLost);
    if (status?.state !== 'live') continue;
    const { stderrBytes, cpuMs } = status;
    // What its model says is a sign of life as well: some CLIs print a message only when it is whole.
    const bytes = follower.bytes + stderrBytes + (wire.live?.bytes ?? 0);
    const sign = { now: performance.now(), bytes, cpuMs };
    const said = { follower, stderrBytes };
    if (asking.sample(sign) === 'quiet') {
      if ((await askedBy(deps, ref))?.ok) stop('asked');
      else if (await promptedFor(deps, ref, said)) stop('waiting-for-permission');
    }
    if (idle.sample(sign) === 'active') continue;
    const silentMs = performance.now() - idle.since;
    if ((await newestChange(files.tree, Date.now() - silentMs)) > Date.now() - silentMs)
      idle.stirred(performance.now());
    // An agent that waits for its model, or before it asks that again, is not to blame.
    else if (wire.live && (wire.live.open > 0 || isLimit(wire.live.sum.failed?.failure))) stop('overloaded');
    else stop((await askedFor(deps, ref, said)) ? 'waiting-for-permission' : 'stalled');
  }
}

const isLimit = (failure: CoderFailure | undefined): boolean => failure === 'rate-limited' || failure === 'overloaded';
