import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import { claimQueue, priorityOf } from '../../domain/names.ts';
import { outsideCoder } from '../../domain/people/external-agent.ts';
import { metAt } from '../../domain/view/decide.ts';
import type { Choice } from '../../domain/routing/route.ts';
import { factsOf } from '../../domain/task/task-facts.ts';
import type { Claim, ClaimAnswer, TriageAsk } from '../../domain/run/claim.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { Triaged } from '../../domain/routing/triage.ts';
import type { TaskRecord } from '../state/task-record.ts';

/** So long a task waits for a worker with the coder that a rule leads to; then the rules are asked again. */
const REDIRECTED = '1h';
const MARGIN_MS = 10_000;
/** So long the machine that has the work of the last run is waited for. */
const HOME = '30s';

/**
 * A slot on some worker, for as long as it takes; undefined where there is something to look at first. The worker that
 * claims first says by its rules what the run is to use. Where that is not there, the task waits for a worker that has it.
 */
export async function claimSlot(task: Task, book: TaskRecord): Promise<Claim | undefined> {
  const { unpinned } = book.place;
  let chosen: Choice | undefined;
  for (;;) {
    const { home } = book.place;
    const queue = home ?? (chosen ? pinnedTo(unpinned, chosen.coder) : unpinned);
    const answer = await ask(task, book, { queue, chosen, home: home !== undefined });
    book.place.home = undefined;
    if (answer === 'again') return undefined;
    if (answer === 'longer') continue;
    if (answer === 'nobody') {
      chosen = undefined;
      book.redirected(null);
    } else if ('triage' in answer) {
      book.triaged(await triage(task, book, answer.triage));
    } else {
      if (answer.triaged) book.triaged(answer.triaged);
      if (!('redirect' in answer)) return answer;
      chosen = answer.redirect;
      book.redirected({ ...chosen, claimQueue: pinnedTo(unpinned, chosen.coder) });
    }
  }
}

const pinnedTo = (queue: string, coder: string): string => claimQueue({ queue, coder });

async function ask(
  task: Task,
  book: TaskRecord,
  { queue, chosen, home }: { queue: string; chosen: Choice | undefined; home: boolean },
): Promise<ClaimAnswer | 'again' | 'longer' | 'nobody'> {
  const { key, untilMs } = book.place.urgency(book.view.priority, task);
  const { registerRun } = proxyActivities<Activities>({
    taskQueue: queue,
    summary: 'wait for a slot',
    startToCloseTimeout: '3s',
    ...(chosen || home ? { scheduleToStartTimeout: home ? HOME : REDIRECTED } : {}),
    // It is then as urgent as the next class.
    ...(untilMs === null ? {} : { scheduleToCloseTimeout: untilMs }),
    retry: { initialInterval: '1s', backoffCoefficient: 1.5, maximumInterval: '10s' },
    allowEagerDispatch: false,
    priority: { ...priorityOf(task), priorityKey: key },
  });
  const { model = chosen?.model } = task;
  const coder = task.for === undefined ? (task.coder ?? chosen?.coder) : outsideCoder(task.for);
  const { triaged, attempts } = book.view;
  const met = metAt(book.counted);
  const order = {
    ...{ taskId: book.view.id, n: book.nextRun },
    ...(coder ? { coder } : {}),
    ...(model ? { model } : {}),
    ...(task.credential ? { credential: task.credential } : {}),
    facts: { ...factsOf(task, attempts.used + 1), ...(triaged ? { class: triaged.class } : {}) },
    ...(chosen ? { chosen } : {}),
    ...(met ? { met } : {}),
  };
  const waiting = new CancellationScope();
  const claimed = waiting.run(() => registerRun(order));
  const woken = condition(() => book.candidate !== undefined || book.place.moved).then(() => waiting.cancel());
  try {
    return await Promise.race([claimed, woken.then(() => claimed)]);
  } catch (error) {
    const why = timedOut(error);
    if (why === 'SCHEDULE_TO_START') return home ? 'longer' : 'nobody';
    if (why) return 'longer';
    if (!isCancellation(error) || CancellationScope.current().consideredCancelled) throw error;
    return 'again';
  }
}

/** Of the wait for a slot; a claim that is handed back with no time for another one counts as well. */
function timedOut(error: unknown): string | undefined {
  if (!(error instanceof ActivityFailure)) return undefined;
  const { cause } = error;
  if (cause instanceof TimeoutFailure) return cause.timeoutType;
  return cause instanceof ApplicationFailure && cause.type === 'HandBack' ? 'HAND_BACK' : undefined;
}

/** Never fails: a worker that is gone, or takes too long, leaves the default. */
async function triage(task: Task, book: TaskRecord, asked: TriageAsk): Promise<Triaged> {
  const { triageTask } = proxyActivities<Activities>({
    taskQueue: asked.hostQueue,
    summary: 'triage',
    scheduleToCloseTimeout: asked.timeoutMs + MARGIN_MS,
    retry: { maximumAttempts: 1 },
  });
  try {
    return await triageTask({ taskId: book.view.id, task });
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { class: asked.default, by: `triage.default, as worker ${asked.worker} did not say` };
  }
}
