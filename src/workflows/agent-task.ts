import { ApplicationFailure, condition, isCancellation, workflowInfo } from '@temporalio/workflow';
import type { Failure } from '../domain/failure.ts';
import { isTaskId } from '../domain/names.ts';
import { decide, type Decision } from '../domain/policy.ts';
import type { Verdict } from '../domain/receipt.ts';
import type { AgentOutcome, TaskView } from '../domain/run.ts';
import { parseTask, type Task } from '../domain/task.ts';
import { TaskBook } from './book.ts';
import { claimSlot } from './claim.ts';
import { deliverResult } from './deliver.ts';
import { passGate } from './gate.ts';
import { Host, HostLost } from './host.ts';
import { settleLate } from './late.ts';
import { listenToPeople, park } from './people.ts';
import { verifyRun } from './verify.ts';

/**
 * The life of one task.
 *
 *     queued ──► setting-up ──► running ──► verifying ──► delivering ──► done
 *        ▲            └────────────┴────────────┴─────────────┘
 *        │  attempts left                       │ failure
 *        └──────────────────────────────────────┤
 *                                               ▼ at the cap, or not retryable
 *                                            parked ──► retry │ accept │ give up (failed)
 *
 * cancelled: from anywhere. Only a verdict, or a person, moves a task on; the agent's word moves nothing.
 */
export async function agentTask(input: unknown): Promise<TaskView> {
  const { workflowId } = workflowInfo();
  const parsed = parseTask(input);
  if (!parsed.ok) throw invalid(parsed.message);
  if (!isTaskId(workflowId))
    throw invalid(`id ${workflowId} must be lower-case words joined by ".", "_" or "-", 64 characters at most`);

  const { task } = parsed;
  const book = new TaskBook(workflowId, task);
  const person = listenToPeople(book);

  let readyAt = 0;

  try {
    for (;;) {
      const waitMs = readyAt - Date.now();
      if (waitMs > 0) await condition(() => book.candidate !== undefined, waitMs);
      const late = await settleLate(task, book);
      if (late === 'done') break;
      if (!late && readyAt > Date.now()) continue;
      const end = late ? after(late, task, book) : await attempt(task, book);
      if (end === 'delivered') break;
      if (end === 'late-result') continue;
      const { failure, decision } = end;
      readyAt = 0;
      if (decision.next === 'park') {
        if (await park(task, book, { decision, person })) break;
        continue;
      }
      book.queueAgain(failure, decision.delayMs);
      if (decision.delayMs > 0) readyAt = Date.now() + decision.delayMs;
    }
    book.supersede();
    book.enter('done');
    return book.view;
  } catch (error) {
    if (isCancellation(error)) book.enter('cancelled');
    throw error;
  }
}

type AttemptEnd =
  | 'delivered'
  /** No slot was free before a lost worker came back with a finished run. */
  | 'late-result'
  | { failure: Failure; decision: Decision };

const after = (failure: Failure, task: Task, book: TaskBook): { failure: Failure; decision: Decision } => ({
  failure,
  decision: decide({ task, runs: book.counted, failure, nowMs: Date.now() }),
});

/** One run from claim to delivery. */
async function attempt(task: Task, book: TaskBook): Promise<AttemptEnd> {
  // 1. A slot on some worker: waits in the claim queue for as long as it takes.
  const claim = await claimSlot(task, book);
  if (!claim) return 'late-result';
  book.claimed(claim);
  const host = Host.of(book.view.id, claim);
  try {
    const failure = await runOn(host, task, book);
    book.ended(failure);
    if (!failure) {
      await host.release('done');
      return 'delivered';
    }
    const { decision } = after(failure, task, book);
    // 6. Always, but for a worker that is gone: that one frees the slot itself when it returns.
    book.saved(await host.release(decision.next === 'park' ? 'parked' : 'queued-again', failure.reason));
    return { failure, decision };
  } catch (error) {
    if (isCancellation(error)) {
      book.ended({ reason: 'cancelled', message: 'the task was cancelled' });
      book.saved(await host.release('cancelled'));
      throw error;
    }
    const failure: Failure = { reason: 'host-lost', message: error instanceof Error ? error.message : String(error) };
    book.ended(failure);
    if (!(error instanceof HostLost)) {
      await host.release('parked');
      throw error;
    }
    const { decision } = after(failure, task, book);
    if (error.answers) book.saved(await host.release(decision.next === 'park' ? 'parked' : 'queued-again'));
    else await host.owe();
    return { failure, decision };
  }
}

async function runOn(host: Host, task: Task, book: TaskBook): Promise<Failure | undefined> {
  const { view } = book;

  // 2. Private repository and worktree at the base, which stays the same for later runs.
  const resume = book.resumeFor(task);
  const prepared = await host.call('create worktree', (on) =>
    on.createWorktree({ ...host.ref, task, base: view.base, resume }),
  );
  if (!prepared.ok) return prepared.failure;
  book.prepared(prepared);
  const refused = prepared.gate && (await passGate(host, book));
  if (refused) return refused;

  // 3. The agent, started or adopted.
  book.enter('running');
  const launched = await host.call(`agent: ${view.coder}`, (on) => on.launchAgent({ ...host.ref, ...book.told }));
  if (!launched.ok) return launched.failure;
  book.launched(launched.outcome);

  // 4. Evidence and verdict, also of a run that was stopped: its receipts say how it ended.
  book.enter('verifying');
  const verified = await verifyRun(host, book, (found) => book.verified(found));
  if ('failure' in verified) return verified.failure;
  if (!verified.verdict.accepted) return failureOf(launched.outcome, verified.verdict);

  // 5. The branch.
  return deliverResult(host, { task, book, verified });
}

/** The first cause wins: why it was stopped, then what the coder itself reported, then the receipts. */
function failureOf(outcome: AgentOutcome, verdict: Verdict): Failure {
  const judged = verdict.reason ?? 'receipts-rejected';
  const { stopped, ended, refused = [] } = outcome;
  // What was not done for want of a permission is neither made up nor bad work.
  const wanting = refused.length > 0 && (judged === 'receipts-rejected' || judged === 'fabricated');
  const reason = stopped ?? ended?.failure ?? (wanting ? 'waiting-for-permission' : judged);
  const until = outcome.until ?? (reason === verdict.reason ? verdict.until : undefined);
  const said = stopped
    ? []
    : ended?.failure
      ? [outcome.claim]
      : wanting
        ? [`it went on without ${refused.join(', ')}`]
        : [];
  return {
    reason,
    message: [...said, ...(reason === 'blocked-by-agent' ? verdict.reasons.slice(0, 1) : verdict.reasons)]
      .filter(Boolean)
      .join('; ')
      .slice(0, 1_500),
    ...(until ? { until } : {}),
    ...(outcome.moves ? { moves: true } : {}),
  };
}

const invalid = (message: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(`invalid task: ${message}`, 'InvalidTask');
