import { allHandlersFinished, CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { FAILURES, type Failure } from '../domain/agent/failure.ts';
import { decide, type Decision } from '../domain/view/decide.ts';
import { failureOf } from '../domain/view/failure-from.ts';
import type { TaskView } from '../domain/view/task-view.ts';
import type { Claim } from '../domain/run/claim.ts';
import type { Task } from '../domain/task/schema.ts';
import { approveRun, BY_TIMEOUT } from './people/approval.ts';
import { TaskRecord } from './state/task-record.ts';
import { claimSlot } from './claim/claim.ts';
import { deliverResult } from './deliver/deliver.ts';
import { awaitDependencies } from './claim/await-dependencies.ts';
import { cleanUpTask } from './ending/clean-up.ts';
import { reviewBeforeRun } from './verify/pre-run-review.ts';
import { handOffAnswered, noteProposed } from './people/follow-ups.ts';
import { WorkerActivities, WorkerLost, lossOf } from './worker/worker-activities.ts';
import { settleLate, supersedeLate } from './ending/late-result.ts';
import { ExternalAgent } from './external/external-agent.ts';
import { parsedTask, parseInput, taskId } from './state/parse-input.ts';
import { listenToPeople, park, type Person } from './ending/parking.ts';
import { Scope } from './claim/scope.ts';
import { settleResult } from './deliver/post-verdict.ts';
import { verifyRun } from './verify/verify.ts';
import { undoDelivery } from './ending/undo-delivery.ts';

/**
 * The life of one task.
 *
 *     awaiting-approval, blocked
 *        │ a yes, and the tasks that come first
 *        ▼
 *     queued ──► setting-up ──► running ──► verifying ──► delivering ──► done
 *        ▲            └────────────┴────────────┴─────────────┘   ▲ │
 *        │  attempts left: awaiting-quota,      │ failure         │ ▼ no slot is held
 *        │  an answer: awaiting-answer          │             awaiting-approval, awaiting-checks
 *        └──────────────────────────────────────┤
 *                                               ▼ at the cap, or not retryable
 *                                            parked ──► retry │ accept │ give up (failed)
 *
 * cancelled: from anywhere. Only a verdict, or a person, moves a task on; the agent's word moves nothing.
 */
export async function agentTask(input: unknown, digest?: unknown): Promise<TaskView> {
  const id = taskId();
  const task = parsedTask(input, digest) ?? (await parseInput(input));
  const record = new TaskRecord(id, task);
  const outside = ExternalAgent.of(task, record);
  const life = { task, record, person: listenToPeople(record), scope: new Scope(record), outside };

  try {
    for (let end: End = 'again'; end !== 'delivered';) {
      if (end === 'again') end = await nextRun(life);
      else if (end === 'kept') end = await settle(life);
      else end = await follow(end, life);
    }
    await cleanUpTask(record, 'done');
    supersedeLate(record.view);
    record.enter('done');
    return record.view;
  } catch (error) {
    if (isCancellation(error)) await undoDelivery(task, record).then(() => record.enter('cancelled', record.cancelled));
    throw error;
  } finally {
    await CancellationScope.nonCancellable(() => record.dependants.sent());
    await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  }
}

interface Life {
  task: Task;
  record: TaskRecord;
  person: Person;
  scope: Scope;
  /** The external agent on this task, if any. */
  outside: ExternalAgent | undefined;
}

type End =
  | 'delivered'
  /** Accepted; without a slot, more is to be done with the result. */
  | 'kept'
  /** There was no run, and something to look at before the next one. */
  | 'again'
  | { failure: Failure; decision: Decision };

const after = (failure: Failure, { task, record }: Life): { failure: Failure; decision: Decision } => ({
  failure,
  decision: decide({ task, runs: record.counted, failure, nowMs: Date.now() }),
});

/** Judges a late result if one came in; otherwise starts a run once it is due. */
async function nextRun(life: Life): Promise<End> {
  const { task, record } = life;
  const waitMs = record.place.readyAt - Date.now();
  if (waitMs > 0) await condition(() => record.candidate !== undefined, waitMs);
  const late = await settleLate(task, record);
  if (late) return typeof late === 'string' ? late : after(late, life);
  if (record.place.readyAt > Date.now()) return 'again';
  if (record.view.state === 'awaiting-quota') record.enter('queued');
  return attempt(life);
}

/** Delivers the kept result of an accepted run. */
async function settle(life: Life): Promise<End> {
  const { task, record, person } = life;
  const failure = await settleResult(task, record, person.approvals);
  if (!failure) return 'delivered';
  record.deliveryFailed(failure);
  // Nobody answered: another run would lead to the same question.
  const unheard = failure.reason === 'not-approved' && record.view.approvals?.at(-1)?.by === BY_TIMEOUT;
  return unheard ? { failure, decision: { next: 'park', ...failure } } : after(failure, life);
}

/** Follows up a failed run: queues another one, asks a person, or parks the task. */
async function follow({ failure, decision }: Exclude<End, string>, life: Life): Promise<End> {
  const { task, record, person, outside } = life;
  outside?.handBack(failure);
  if (decision.next === 'ask') {
    const unanswered = await person.questions.ask(record.asked, () => settleLate(task, record));
    if (typeof unanswered === 'string') return unanswered;
    if (unanswered) return park(task, record, { decision: unanswered, person });
    await handOffAnswered(life);
    record.enter('queued');
    record.place.preferWorkerOf(task, record.view.runs.at(-1));
    return 'again';
  }
  if (decision.next === 'park') return park(task, record, { decision, person });
  // An external agent chooses itself when to try again.
  record.queueAgain(failure, outside && !record.view.handedIn ? 0 : decision.delayMs);
  if (FAILURES[failure.reason].next === 'mend') record.place.preferWorkerOf(task, record.view.runs.at(-1));
  return 'again';
}

/** Waits until the task may be claimed, then carries one run from claim to delivery. */
async function attempt(life: Life): Promise<End> {
  const { task, record, scope } = life;
  const ready = await untilReady(life);
  if (ready !== 'go') return ready;
  try {
    if ((await scope.enter(task)) === 'again') return 'again';
    // 1. Claim a slot on some worker: waits in the claim queue for as long as it takes.
    const claim = await claimSlot(task, record);
    if (!claim) return 'again';
    record.claimed(claim);
    return await runClaimed(claim, life);
  } finally {
    await scope.leave();
  }
}

/** Waits for approval, for dependencies, and for the submission of an external agent. */
async function untilReady(life: Life): Promise<'go' | End> {
  const { task, record, person, outside } = life;
  const held = (failure: Failure): End => ({ failure, decision: { next: 'park', ...failure } });
  const refused = await approveRun(task, record, person.approvals);
  if (refused) return held(refused);
  const needs = await awaitDependencies(task, record);
  if (needs !== 'go') return needs === 'late' ? 'again' : held(needs);
  // What was changed so far is considered.
  record.place.moved = false;
  const turn = await outside?.turn(person.approvals);
  if (typeof turn !== 'object') return turn ?? 'go';
  return turn.reason === 'asked' ? after(turn, life) : held(turn);
}

async function runClaimed(claim: Claim, life: Life): Promise<End> {
  const { task, record } = life;
  const host = WorkerActivities.of(record.view.id, claim);
  try {
    const end = await runOn(host, { task, record, claim });
    const failure = typeof end === 'string' ? undefined : end;
    record.ended(failure);
    if (!failure) {
      const saved = await host.release(end === 'kept' ? 'queued-again' : 'done');
      if (end === 'kept') record.saved(saved);
      return end as 'delivered' | 'kept';
    }
    const { decision } = after(failure, life);
    // 6. Release the slot. A worker that is gone frees it itself when it returns.
    const ending = decision.next === 'park' ? 'parked' : 'queued-again';
    record.saved(await host.release(ending, failure.local ? null : failure.reason));
    return { failure, decision };
  } catch (error) {
    if (isCancellation(error)) {
      record.ended({ reason: 'cancelled', message: 'the task was cancelled' });
      record.saved(await host.release('cancelled'));
      throw error;
    }
    const failure = lossOf(error);
    record.ended(failure);
    if (!(error instanceof WorkerLost)) {
      await host.release('parked');
      throw error;
    }
    const { decision } = after(failure, life);
    const ending = decision.next === 'park' ? 'parked' : 'queued-again';
    if (error.answers) record.saved(await host.release(ending, failure.reason));
    else await host.owe();
    return { failure, decision };
  }
}

async function runOn(
  host: WorkerActivities,
  { task, record, claim }: Pick<Life, 'task' | 'record'> & { claim: Claim },
): Promise<'delivered' | 'kept' | Failure> {
  const { view } = record;

  // 2. Create the private repository and worktree at the base, which later runs keep. A submission may be judged from a newer base.
  const { handedIn } = view;
  const resume = handedIn ? null : record.resumeFor(task);
  const given = { ...record.dependencies.resultsFor(task), ...(handedIn ? { handedIn } : {}) };
  const prepared = await host.call('create worktree', (on) =>
    on.createWorktree({ ...host.ref, task, base: view.base, resume, ...given }),
  );
  if (!prepared.ok) return prepared.failure;
  record.prepared(handedIn && view.base ? { ...prepared, base: view.base } : prepared, resume);
  if (prepared.doneBy) view.doneBy = prepared.doneBy;
  const refused = prepared.gate && (await reviewBeforeRun(host, record));
  if (refused) return refused;

  // 3. Launch or adopt the agent, or fetch what an external agent handed in.
  record.enter('running');
  const launched = handedIn
    ? await host.call(`bring what ${handedIn.as} handed in`, (on) => on.fetchExternalCommit({ ...host.ref, handedIn }))
    : await host.call(`agent: ${view.coder}`, (on) => on.launchAgent({ ...host.ref, ...record.runContext }));
  if (!launched.ok) return launched.failure;
  record.launched(launched.outcome);
  noteProposed(record, launched.outcome);
  const proposed = { ...claim, outcome: launched.outcome };
  const { asked } = launched.outcome;
  if (asked) {
    record.results.proposed = proposed;
    return { reason: 'asked', message: asked.text };
  }

  // 4. Verify the receipts, also of a run that was stopped: they say how it ended.
  record.enter('verifying');
  const verified = await verifyRun(host, record, (found) => record.verified(found));
  if ('failure' in verified) return verified.failure;
  if (!verified.verdict.accepted) return failureOf(launched.outcome, verified.verdict);

  // 5. Deliver the branch.
  return deliverResult(host, { task, record, verified, run: claim, proposed });
}
