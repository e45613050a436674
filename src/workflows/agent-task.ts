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
import { passGate } from './verify/pre-run-review.ts';
import { handOffAnswered, noteProposed } from './people/follow-ups.ts';
import { Host, HostLost, lossOf } from './worker/worker-activities.ts';
import { settleLate, supersedeLate } from './ending/late-result.ts';
import { OutsideAgent } from './external/external-agent.ts';
import { parsedTask, parseInput, taskId } from './state/parse-input.ts';
import { listenToPeople, park, type Person } from './ending/parking.ts';
import { Scope } from './claim/scope.ts';
import { settleResult } from './deliver/post-verdict.ts';
import { verifyRun } from './verify/verify.ts';
import { leaveNothing } from './ending/undo-delivery.ts';

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
  const book = new TaskRecord(id, task);
  const outside = OutsideAgent.of(task, book);
  const life = { task, book, person: listenToPeople(book), scope: new Scope(book), outside };

  try {
    for (let end: End = 'again'; end !== 'delivered';) {
      if (end === 'again') end = await nextRun(life);
      else if (end === 'kept') end = await settle(life);
      else end = await follow(end, life);
    }
    await cleanUpTask(book, 'done');
    supersedeLate(book.view);
    book.enter('done');
    return book.view;
  } catch (error) {
    if (isCancellation(error)) await leaveNothing(task, book).then(() => book.enter('cancelled', book.cancelled));
    throw error;
  } finally {
    await CancellationScope.nonCancellable(() => book.dependants.sent());
    await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  }
}

interface Life {
  task: Task;
  book: TaskRecord;
  person: Person;
  scope: Scope;
  /** Whose word is waited for in the place of a worker's agent. */
  outside: OutsideAgent | undefined;
}

type End =
  | 'delivered'
  /** Accepted; without a slot, more is to be done with the result. */
  | 'kept'
  /** There was no run, and something to look at before the next one. */
  | 'again'
  | { failure: Failure; decision: Decision };

const after = (failure: Failure, { task, book }: Life): { failure: Failure; decision: Decision } => ({
  failure,
  decision: decide({ task, runs: book.counted, failure, nowMs: Date.now() }),
});

/** A late result, where one came in; else a run, once its time has come. */
async function nextRun(life: Life): Promise<End> {
  const { task, book } = life;
  const waitMs = book.place.readyAt - Date.now();
  if (waitMs > 0) await condition(() => book.candidate !== undefined, waitMs);
  const late = await settleLate(task, book);
  if (late) return typeof late === 'string' ? late : after(late, life);
  if (book.place.readyAt > Date.now()) return 'again';
  if (book.view.state === 'awaiting-quota') book.enter('queued');
  return attempt(life);
}

/** What was kept of an accepted run is delivered, or was not to be. */
async function settle(life: Life): Promise<End> {
  const { task, book, person } = life;
  const failure = await settleResult(task, book, person.approvals);
  if (!failure) return 'delivered';
  book.undone(failure);
  // Nobody was there: another run would come to the same question.
  const unheard = failure.reason === 'not-approved' && book.view.approvals?.at(-1)?.by === BY_TIMEOUT;
  return unheard ? { failure, decision: { next: 'park', ...failure } } : after(failure, life);
}

/** Another run, a question to a person, or a person's decision. */
async function follow({ failure, decision }: Exclude<End, string>, life: Life): Promise<End> {
  const { task, book, person, outside } = life;
  outside?.handBack(failure);
  if (decision.next === 'ask') {
    const unanswered = await person.questions.ask(book.asked, () => settleLate(task, book));
    if (typeof unanswered === 'string') return unanswered;
    if (unanswered) return park(task, book, { decision: unanswered, person });
    await handOffAnswered(life);
    book.enter('queued');
    book.place.comeBack(task, book.view.runs.at(-1));
    return 'again';
  }
  if (decision.next === 'park') return park(task, book, { decision, person });
  // Whoever is to mend it decides itself when.
  book.queueAgain(failure, outside && !book.view.handedIn ? 0 : decision.delayMs);
  if (FAILURES[failure.reason].next === 'mend') book.place.comeBack(task, book.view.runs.at(-1));
  return 'again';
}

/** One run from claim to delivery, once nothing keeps it from being claimed. */
async function attempt(life: Life): Promise<End> {
  const { task, book, scope } = life;
  const ready = await untilReady(life);
  if (ready !== 'go') return ready;
  try {
    if ((await scope.enter(task)) === 'again') return 'again';
    // 1. A slot on some worker: waits in the claim queue for as long as it takes.
    const claim = await claimSlot(task, book);
    if (!claim) return 'again';
    book.claimed(claim);
    return await runClaimed(claim, life);
  } finally {
    await scope.leave();
  }
}

/** A person's yes, other tasks, and what an agent outside the fleet has to hand in. */
async function untilReady(life: Life): Promise<'go' | End> {
  const { task, book, person, outside } = life;
  const held = (failure: Failure): End => ({ failure, decision: { next: 'park', ...failure } });
  const refused = await approveRun(task, book, person.approvals);
  if (refused) return held(refused);
  const needs = await awaitDependencies(task, book);
  if (needs !== 'go') return needs === 'late' ? 'again' : held(needs);
  // What was changed so far is considered.
  book.place.moved = false;
  const turn = await outside?.turn(person.approvals);
  if (typeof turn !== 'object') return turn ?? 'go';
  return turn.reason === 'asked' ? after(turn, life) : held(turn);
}

async function runClaimed(claim: Claim, life: Life): Promise<End> {
  const { task, book } = life;
  const host = Host.of(book.view.id, claim);
  try {
    const end = await runOn(host, { task, book, claim });
    const failure = typeof end === 'string' ? undefined : end;
    book.ended(failure);
    if (!failure) {
      const saved = await host.release(end === 'kept' ? 'queued-again' : 'done');
      if (end === 'kept') book.saved(saved);
      return end as 'delivered' | 'kept';
    }
    const { decision } = after(failure, life);
    // 6. Always, but for a worker that is gone: that one frees the slot itself when it returns.
    const ending = decision.next === 'park' ? 'parked' : 'queued-again';
    book.saved(await host.release(ending, failure.local ? null : failure.reason));
    return { failure, decision };
  } catch (error) {
    if (isCancellation(error)) {
      book.ended({ reason: 'cancelled', message: 'the task was cancelled' });
      book.saved(await host.release('cancelled'));
      throw error;
    }
    const failure = lossOf(error);
    book.ended(failure);
    if (!(error instanceof HostLost)) {
      await host.release('parked');
      throw error;
    }
    const { decision } = after(failure, life);
    const ending = decision.next === 'park' ? 'parked' : 'queued-again';
    if (error.answers) book.saved(await host.release(ending, failure.reason));
    else await host.owe();
    return { failure, decision };
  }
}

async function runOn(
  host: Host,
  { task, book, claim }: Pick<Life, 'task' | 'book'> & { claim: Claim },
): Promise<'delivered' | 'kept' | Failure> {
  const { view } = book;

  // 2. Private repository and worktree at the base, which stays for later runs; what is handed in may be judged from a newer one.
  const { handedIn } = view;
  const resume = handedIn ? null : book.resumeFor(task);
  const given = { ...book.dependencies.resultsFor(task), ...(handedIn ? { handedIn } : {}) };
  const prepared = await host.call('create worktree', (on) =>
    on.createWorktree({ ...host.ref, task, base: view.base, resume, ...given }),
  );
  if (!prepared.ok) return prepared.failure;
  book.prepared(handedIn && view.base ? { ...prepared, base: view.base } : prepared, resume);
  if (prepared.doneBy) view.doneBy = prepared.doneBy;
  const refused = prepared.gate && (await passGate(host, book));
  if (refused) return refused;

  // 3. The agent, started or adopted; or what one outside the fleet has handed in.
  book.enter('running');
  const launched = handedIn
    ? await host.call(`bring what ${handedIn.as} handed in`, (on) => on.fetchExternalCommit({ ...host.ref, handedIn }))
    : await host.call(`agent: ${view.coder}`, (on) => on.launchAgent({ ...host.ref, ...book.told }));
  if (!launched.ok) return launched.failure;
  book.launched(launched.outcome);
  noteProposed(book, launched.outcome);
  const proposed = { ...claim, outcome: launched.outcome };
  const { asked } = launched.outcome;
  if (asked) {
    book.results.proposed = proposed;
    return { reason: 'asked', message: asked.text };
  }

  // 4. Evidence and verdict, also of a run that was stopped: its receipts say how it ended.
  book.enter('verifying');
  const verified = await verifyRun(host, book, (found) => book.verified(found));
  if ('failure' in verified) return verified.failure;
  if (!verified.verdict.accepted) return failureOf(launched.outcome, verified.verdict);

  // 5. The branch.
  return deliverResult(host, { task, book, verified, run: claim, proposed });
}
