import { ApplicationFailure, isCancellation, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { Failure, Reason } from '../domain/failure.ts';
import { isTaskId, priorityKey } from '../domain/names.ts';
import { decide } from '../domain/policy.ts';
import type { AgentOutcome, Claim, TaskView } from '../domain/run.ts';
import { parseTask, type Task } from '../domain/task.ts';
import { TaskBook } from './book.ts';
import { Host, HostLost } from './host.ts';
import { listenToPeople, park } from './people.ts';

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

  try {
    for (;;) {
      const failure = await attempt(task, book);
      if (!failure) break;
      const decision = decide({ task, runs: book.counted, failure, nowMs: Date.now() });
      if (decision.next === 'retry') {
        book.queueAgain(failure, decision.delayMs);
        if (decision.delayMs > 0)
          await sleep(decision.delayMs, { summary: `wait before the next run: ${failure.reason}` });
        continue;
      }
      const ended = await park(task, book, { decision, person });
      if (ended) break;
    }
    book.enter('done');
    return book.view;
  } catch (error) {
    if (isCancellation(error)) book.enter('cancelled');
    throw error;
  }
}

/** One run from claim to delivery. Undefined: accepted and delivered. */
async function attempt(task: Task, book: TaskBook): Promise<Failure | undefined> {
  // 1. A slot on some worker: waits in the claim queue for as long as it takes.
  const claim = await claimSlot(task, book);
  book.claimed(claim);
  const host = new Host(book.view.id, claim);
  try {
    const failure = await runOn(host, task, book);
    book.ended(failure);
    // 6. Always, but for a worker that is gone: that one frees the slot itself when it returns.
    await host.release();
    return failure;
  } catch (error) {
    const cancelled = isCancellation(error);
    const failure: Failure = cancelled
      ? { reason: 'cancelled', message: 'the task was cancelled' }
      : { reason: 'host-lost', message: error instanceof Error ? error.message : String(error) };
    book.ended(failure);
    if (error instanceof HostLost) return failure;
    await host.release();
    throw error;
  }
}

async function runOn(host: Host, task: Task, book: TaskBook): Promise<Failure | undefined> {
  const { view } = book;

  // 2. Private repository and worktree at the base, which stays the same for later runs.
  const prepared = await host.call('create worktree', (on) =>
    on.createWorktree({ ...host.ref, task, base: view.base }),
  );
  if (!prepared.ok) return prepared.failure;
  view.base = prepared.base;

  // 3. The agent, started or adopted.
  book.enter('running');
  const launched = await host.call(`agent: ${view.coder}`, (on) =>
    on.launchAgent({ ...host.ref, feedback: book.feedback }),
  );
  if (!launched.ok) return launched.failure;
  book.launched(launched.outcome);

  // 4. Evidence and verdict, also of a run that was stopped: its receipts say how it ended.
  book.enter('verifying');
  const verified = await host.call('verify receipts', (on) => on.verifyReceipts(host.ref));
  book.verified(verified);
  if (!verified.verdict.accepted) return failureOf(launched.outcome, verified.verdict);

  // 5. The branch.
  if (task.deliver === 'none' || !verified.commit) return undefined;
  book.enter('delivering');
  const delivered = await host.call('deliver', (on) => on.deliver(host.ref));
  if (!delivered.ok) return delivered.failure;
  book.delivered(delivered.branch, delivered.commit);
  return undefined;
}

/** The first cause wins: why it was stopped, then what the coder itself reported, then the receipts. */
function failureOf(outcome: AgentOutcome, verdict: { reason: Reason | null; reasons: string[] }): Failure {
  const reason = outcome.stopped ?? outcome.ended?.failure ?? verdict.reason ?? 'receipts-rejected';
  const said = outcome.stopped ? [] : outcome.ended?.failure ? [outcome.claim] : [];
  return {
    reason,
    message: [...said, ...verdict.reasons].filter(Boolean).join('; ').slice(0, 1_500),
    ...(outcome.until ? { until: outcome.until } : {}),
  };
}

async function claimSlot(task: Task, book: TaskBook): Promise<Claim> {
  const { registerRun } = proxyActivities<Activities>({
    taskQueue: book.view.claimQueue,
    summary: 'wait for a slot',
    startToCloseTimeout: '3s',
    retry: { initialInterval: '1s', backoffCoefficient: 1.5, maximumInterval: '10s' },
    allowEagerDispatch: false,
    priority: { priorityKey: priorityKey(task.priority) },
  });
  return registerRun({ taskId: book.view.id, n: book.nextRun, ...(task.coder ? { coder: task.coder } : {}) });
}

const invalid = (message: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(`invalid task: ${message}`, 'InvalidTask');
