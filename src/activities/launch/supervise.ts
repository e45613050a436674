import { CancelledFailure, Context } from '@temporalio/activity';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import { mostCost } from '../../domain/agent/cost.ts';
import type { Usage } from '../../domain/agent/event.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { ExitRecord, StopReason } from '../../domain/run/outcome.ts';
import { Checkpoints } from './checkpoint.ts';
import { endOf, endRun, type Deps } from '../worker/context.ts';
import type { Follower } from '../output/event-follower.ts';
import { isTaskCancelled } from '../worker/heartbeat.ts';
import { ProgressWatch, type Halt } from './progress.ts';
import { turns } from './wait-loop.ts';
import { persist, unlessDisk } from '../worker/persist.ts';
import type { WireWatch } from '../output/proxy-watch.ts';

const POLL_MS = 200;

interface Supervised {
  follower: Follower;
  prepared: Prepared;
  /** What it has used so far, with its cost. */
  used(): Usage;
  wire: WireWatch;
}

interface Ended {
  exit: ExitRecord;
  /** What it waited for, or said last, as far as that was why it was stopped. */
  why?: string;
}

/** Follows the agent until nothing of its process tree lives, and stops it at its limits. Undefined: its keeper is gone. */
export async function superviseAgent(deps: Deps, ref: RunRef, run: Supervised): Promise<Ended | undefined> {
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
): Promise<Ended | undefined> {
  const { keeper } = deps;
  const { limits } = prepared.policy;
  const context = Context.current();
  const ended = endOf(keeper, ref, context.cancellationSignal);
  const next = turns({ ended, cancelled: context.cancelled }, POLL_MS);
  const progress = new ProgressWatch(deps, ref, { follower, wire, idleMs: limits.idleMs });
  let stopping: Halt | undefined;
  const stop = (reason: StopReason, why?: string) => {
    if (stopping) return;
    stopping = { reason, ...(why === undefined ? {} : { why }) };
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
      if (end.state !== 'ended') return undefined;
      const { exit } = end;
      return stopping?.why !== undefined && stopping.reason === exit.stopped ? { exit, why: stopping.why } : { exit };
    }
    // What cannot be read for want of file descriptors is read later.
    await follower.drain(false).catch(unlessDisk);

    if (deps.holds.stopsAgents) stop('killed');
    checkpoints.tick();
    wire.tick();
    follower.wired = wire.live?.sum;
    const usage = used();
    if (limits.tokens && usage.inputTokens + usage.outputTokens > limits.tokens) stop('over-budget');
    if (limits.costUsd && mostCost(usage, deps.config.prices) > limits.costUsd) stop('over-budget');
    if (follower.waiting) stop('waiting-for-permission', follower.waiting);
    const halt = await progress.tick().catch(unlessDisk);
    if (halt) stop(halt.reason, halt.why);
  }
}
