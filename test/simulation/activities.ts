import type { TaskAlert as Alert } from '../../src/activities/services/send-alert.ts';
import type { ReleaseInput } from '../../src/activities/release/release-run.ts';
import type { ClaimInput, Claim } from '../../src/domain/run/claim.ts';
import type { DeliverInput } from '../../src/activities/deliver/deliver.ts';
import type { Reason } from '../../src/domain/agent/failure.ts';
import type {
  Delivered,
  Gated,
  Launched,
  Prepared,
  Released,
  RunRef,
  Verified,
} from '../../src/domain/view/task-view.ts';
import type { StopReason } from '../../src/domain/run/outcome.ts';
import { NO_USAGE } from '../../src/domain/agent/event.ts';
import { runIdOf } from '../../src/domain/names.ts';
import { outcomeOf, planAgent, question, WORD } from './agents.ts';
import { ELSEWHERE } from './elsewhere.ts';
import { ActivityError } from './failures.ts';
import { failed, unprepared } from './unprepared.ts';
import { cancellable, unlessCancelled, using } from './steps.ts';
import type { Attempt, HeldRun, Work } from './attempt.ts';
import type { Worker } from './worker.ts';
type Activity = (on: Worker, order: never, attempt: Attempt) => Work;

/** The activities as far as the workflow can tell: what they answer, in which order they write, and where they can be cut off. */
export const ACTIVITIES: Record<string, Activity> = {
  registerRun,
  createWorktree,
  gateTask,
  launchAgent: (on, order: RunRef, attempt) => using(on, order, launchAgent(on, order, attempt)),
  verifyReceipts,
  ...ELSEWHERE,
  deliver,
  keepAccepted,
  deliverRescued,
  releaseRun: (on, order: ReleaseInput) => using(on, order, releaseRun(on, order)),
  findRun,
  sendAlert,
} satisfies Record<string, Activity>;

/** A place where the process may be killed, and so on. */
function* point(on: Worker, name: string): Work<void> {
  on.world.reached(on, name);
  yield 0;
}

function* registerRun(on: Worker, { taskId, n, met }: ClaimInput): Work<Claim> {
  const { world } = on;
  if (on.used >= on.slots) throw new ActivityError('HandBack', { nextRetryMs: 200 });
  const runId = runIdOf(n, world.random.between(0x10000000, 0xffffffff).toString(16));
  const known = { prepared: false, retired: false, outcome: undefined, verified: undefined, met: met?.runs ?? 0 };
  on.disk.set(runId, { taskId, runId, n, ...known });
  world.checker.claimed(on);
  on.touch({ taskId, runId });
  on.reapLater();
  yield* point(on, `claim ${taskId}`);
  yield world.random.spread(1, 100);
  const graceMs = world.mutation === 'no-grace' ? 1 : 40_000;
  const who = { worker: on.name, machine: on.name, hostQueue: on.hostQueue, coder: 'claude' };
  return { runId, n, ...who, lease: { heartbeatMs: 12_000, graceMs } };
}

function* createWorktree(on: Worker, order: RunRef & { base: string | null }, attempt: Attempt): Work<Prepared> {
  const run = requireRun(on, order);
  const { random } = on.world;
  const gate = on.world.gated ? { gate: true as const } : {};
  const answer: Prepared = { ok: true, base: order.base ?? 'base-commit', resumed: null, ...gate };
  if (run.prepared) return answer;
  return yield* cancellable(on, { ref: order, attempt }, function* () {
    if (run.prepared) return answer;
    yield* unlessCancelled(on, attempt, random.spread(50, 40_000));
    if (random.chance(on.world.flaky)) throw new ActivityError('Error');
    if (random.chance(0.03)) return unprepared(random, run);
    run.prepared = true;
    yield* point(on, `prepared ${order.taskId}`);
    return answer;
  });
}

function* gateTask(on: Worker, ref: RunRef, attempt: Attempt): Work<Gated> {
  const { random, clock } = on.world;
  return yield* cancellable(on, { ref, attempt }, function* () {
    requireRun(on, ref);
    yield* unlessCancelled(on, attempt, random.spread(200, 60_000));
    if (random.chance(on.world.flaky)) throw new ActivityError('Error');
    const reason = random.chance(0.8) ? undefined : random.pick(['rate-limited', 'unreviewed', undefined] as const);
    const ok = reason === undefined && random.chance(0.8);
    yield* point(on, `gated ${ref.taskId}`);
    const at = new Date(clock.now).toISOString();
    return { ok, summary: 'said', evidence: { usage: NO_USAGE }, at, ...(reason ? { reason } : {}) };
  });
}

function* launchAgent(on: Worker, order: RunRef, attempt: Attempt): Work<Launched> {
  const { world, keeper } = on;
  const { random, clock } = world;
  const run = requireRun(on, order);
  if (!run.prepared) throw new ActivityError('UnknownRun', { nonRetryable: true });
  let agent = keeper.agents.get(order.runId);
  if (!agent) {
    const askedAt = yield* askedFor(on, attempt);
    yield random.between(5, 50);
    yield* point(on, `launching ${order.taskId}`);
    agent = keeper.launch(order, planAgent(random, world.manners(order.taskId)), askedAt);
    if (!agent) throw new ActivityError('Error');
    yield* point(on, `launched ${order.taskId}`);
    if (agent.plan.kind === 'poison') world.poisoned(on, agent.plan.ms);
  }
  while (!agent.ended.isOpen) {
    yield [agent.ended, attempt.onCancel];
    if (attempt.cancelled && !agent.ended.isOpen) {
      if (attempt.cancelled === 'task') yield* endRun(on, order, 'cancelled');
      attempt.throwIfCancelled();
    }
  }
  if (agent.crashed) return failed('host-lost');
  run.outcome ??= {
    ...outcomeOf(agent, clock.now),
    ...(world.asks && random.chance(0.4) ? { asked: question(random) } : {}),
  };
  yield* point(on, `ended ${order.taskId}`);
  return { ok: true, outcome: run.outcome };
}

/** When the server was last asked, and still waited for this attempt. */
function* askedFor(on: Worker, attempt: Attempt): Work<number> {
  const { clock, random, mutation } = on.world;
  const askedAt = clock.now;
  yield random.between(2, 20);
  if (mutation === 'stale-launch') return Infinity;
  if (!on.inContact || !attempt.task.isAttempt(attempt.number)) throw new ActivityError('Error');
  return askedAt;
}

function* verifyReceipts(on: Worker, ref: RunRef, attempt: Attempt): Work<Verified> {
  const { random } = on.world;
  const known = on.disk.get(ref.runId)?.verified;
  if (known) return known;
  return yield* cancellable(on, { ref, attempt }, function* () {
    const run = requireRun(on, ref);
    if (run.verified) return run.verified;
    const plan = on.keeper.agents.get(ref.runId)?.plan;
    if (!run.outcome || !plan || plan.kind === 'broken' || random.chance(on.world.flaky))
      throw new ActivityError('Error');
    yield* unlessCancelled(on, attempt, random.spread(20, 60_000));
    const accepted = plan.kind === 'good' && !run.outcome.stopped && random.chance(0.95);
    const commit = accepted || random.chance(0.7) ? `commit-${ref.runId}` : null;
    if (!accepted && commit) on.vault.set(ref.runId, commit);
    const reason: Reason | null = accepted ? null : plan.kind === 'crash' ? 'crashed' : 'receipts-rejected';
    yield* point(on, `judged ${ref.taskId}`);
    const elsewhere = accepted && on.world.elsewhere ? { elsewhere: true as const } : {};
    const unshown = accepted && on.world.approved && random.chance(0.3) ? { word: WORD } : {};
    const doneBy = accepted && !('word' in unshown) ? ['git' as const] : [];
    const reasons = accepted ? [] : ['the acceptance command failed'];
    const verdict = { accepted, reasons, reason, acceptance: true, doneBy, digest: ref.runId };
    return (run.verified = { verdict, receipts: [], commit, ...elsewhere, ...unshown });
  });
}

function* deliver(on: Worker, order: DeliverInput, attempt: Attempt): Work<Delivered> {
  const { earlier = [], ...ref } = order;
  const { verified } = requireRun(on, ref);
  if (!verified?.verdict.accepted || verified.elsewhere || !verified.commit) throw new ActivityError('Error');
  const { commit } = verified;
  return yield* using(
    on,
    ref,
    (function* () {
      attempt.throwIfCancelled();
      if (!on.keeper.provedContact() || on.world.random.chance(on.world.flaky)) throw new ActivityError('Error');
      const delivered = yield* bring(on, ref, { commit, earlier });
      if (!delivered.ok) on.vault.set(ref.runId, commit);
      return delivered;
    })(),
  );
}

function* keepAccepted(on: Worker, ref: RunRef): Work<void> {
  const { verified } = requireRun(on, ref);
  if (!verified?.verdict.accepted || !verified.commit) throw new ActivityError('Error');
  yield on.world.random.spread(5, 2_000);
  on.vault.set(ref.runId, verified.commit);
  yield* point(on, `kept ${ref.taskId}`);
}

function* deliverRescued(on: Worker, ref: RunRef): Work<Delivered> {
  const commit = on.vault.get(ref.runId);
  if (!commit) return failed('repo-unavailable');
  return yield* bring(on, ref, { commit, earlier: [] });
}

type Bringing = { commit: string; earlier: readonly string[] };
function* bring(on: Worker, { taskId, runId }: RunRef, { commit, earlier }: Bringing): Work<Delivered> {
  const { world } = on;
  yield world.random.spread(10, 3_000);
  yield* point(on, `delivering ${taskId}`);
  const there = world.branches.get(taskId);
  if (there && earlier.includes(there) && world.mutation !== 'overwrite')
    return { ok: true, branch: `fleet/${taskId}`, commit: there };
  if (there && there !== commit && world.mutation !== 'overwrite') return failed('conflict');
  if (there !== commit) world.checker.delivered({ taskId, runId }, commit);
  world.branches.set(taskId, commit);
  yield* point(on, `delivered ${taskId}`);
  return { ok: true, branch: `fleet/${taskId}`, commit };
}

function* releaseRun(on: Worker, order: ReleaseInput): Work<Released> {
  if (!on.disk.has(order.runId)) return { saved: null };
  yield* endRun(on, order, 'superseded');
  yield on.world.random.spread(5, 2_000);
  yield* point(on, `releasing ${order.taskId}`);
  free(on, order);
  yield* point(on, `released ${order.taskId}`);
  return { saved: null };
}

function* findRun(on: Worker, { runId }: RunRef): Work<boolean> {
  yield 1;
  const run = on.disk.get(runId);
  return run !== undefined && !run.retired;
}

function* sendAlert(on: Worker, alert: Alert): Work<void> {
  yield on.world.random.spread(5, 5_000);
  if (on.world.mutation !== 'forget-to-tell') on.world.alerted(alert);
}

/** Ends what lives of a run, and waits for it. */
export function* endRun(on: Worker, { runId }: RunRef, reason: StopReason): Work<void> {
  const agent = on.keeper.agents.get(runId);
  on.keeper.stop(runId, reason);
  if (agent && !agent.ended.isOpen) yield [agent.ended];
}

export function free(on: Worker, { runId }: RunRef): void {
  on.disk.delete(runId);
  on.touched.delete(runId);
  on.world.server.pump('fleet');
}

function requireRun(on: Worker, { runId }: RunRef): HeldRun {
  const run = on.disk.get(runId);
  if (!run) throw new ActivityError('UnknownRun', { nonRetryable: true });
  return run;
}
