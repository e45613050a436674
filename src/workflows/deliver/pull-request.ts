import { sleep } from '@temporalio/workflow';
import type { Failure } from '../../domain/agent/failure.ts';
import { branchOf } from '../../domain/names.ts';
import { judgePull, nextLook, type PullLook } from '../../domain/deliver/pull-request.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { outsideCalls } from '../state/external-calls.ts';

/** A look takes some requests, each of 20 s at most. */
const github = () => outsideCalls({ startToCloseTimeout: '5m', heartbeatTimeout: '12s' });

/** Beyond it an answer that keeps failing is for a person. */
const MOST_WAITS = 500;

/**
 * Makes a pull request of the branch that was delivered, or brings it up to date, and waits without a slot for what the task
 * asks of it. Undefined: that has come.
 */
export async function deliverByPullRequest(task: Task, record: TaskRecord): Promise<Failure | undefined> {
  const { view } = record;
  const { repo } = task;
  if (!repo || !view.commit) return undefined;
  record.enter('awaiting-checks');
  const { id, title, objective, coder, model, commit, receipts, verdict } = view;
  const text = { id, title, objective, coder, model, commit, receipts, verdict };
  const order = { repo, branch: branchOf(id), text, into: task.into ?? null, wish: task.pr };
  const opened = await untilAnswered(record, () => github().openPull(order));
  if ('failure' in opened) return opened.failure;
  const { number, url } = opened.value;
  const heard = view.pull?.number === number ? (view.pull.heard ?? []) : [];
  view.pull = { url, number, checks: 'pending', state: 'open', heard };

  const since = Date.now();
  for (;;) {
    const looked = await untilAnswered(record, () => github().lookAtPull({ repo, number }));
    if ('failure' in looked) return looked.failure;
    const { pollMs, settleMs, ...look } = looked.value;
    const waitedMs = Date.now() - since;
    Object.assign(view.pull, { state: look.state, checks: look.checks === 'none' ? 'pending' : look.checks });
    const judged = judgePull(look, { until: task.pr.until, commit, heard, waitedMs, settleMs });
    if (judged === 'done') {
      if (look.checks === 'none') view.pull.checks = 'green';
      record.say(null);
      return undefined;
    }
    if (judged !== 'wait') {
      const { conflict, ...failure } = judged;
      view.pull.heard = [...heard, ...look.requested.map((review) => review.id)];
      // What is mended starts from the commit that it did not go with.
      if (conflict) view.base = conflict;
      return failure;
    }
    record.say(waitsFor(look, { ...task, commit }));
    await sleep(nextLook(waitedMs, pollMs));
  }
}

/** Asks again for as long as the server is busy or away. */
async function untilAnswered<T>(
  record: TaskRecord,
  ask: () => Promise<Answered<T>>,
): Promise<{ value: T } | { failure: Failure }> {
  let why = '';
  for (let waits = 0; waits < MOST_WAITS; waits += 1) {
    const answer = await ask();
    if (answer.ok) return { value: answer.value };
    if ('failure' in answer) return { failure: answer.failure };
    ({ why } = answer);
    record.say(why);
    await sleep(answer.laterMs);
  }
  return { failure: { reason: 'repo-unavailable', message: why } };
}
type Answered<T> =
  | { ok: true; value: T }
  | { ok: false; failure: Failure }
  | { ok: false; laterMs: number; why: string };

function waitsFor({ url, head, checks, unfinished }: PullLook, { pr, commit }: Task & { commit: string }): string {
  if (head !== commit) return `${url} is still at ${head.slice(0, 12)}`;
  if (checks === 'red') return `${url}: checks have failed, and ${unfinished} others have not ended`;
  if (checks === 'pending') return `${url}: ${unfinished} checks have not ended`;
  return pr.until === 'merged' ? `${url} waits for somebody to merge it` : `${url}: no checks yet`;
}
