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

/** How long a task waits for a worker with the coder that a rule chose; then the rules are asked again. */
const REDIRECTED = '1h';
const MARGIN_MS = 10_000;
/** How long a task waits for the machine that has the work of its last run. */
const HOME = '30s';

/**
 * A slot on some worker, for as long as it takes; undefined where there is something to look at first. The worker that
 * claims first says by its rules what the run is to use. Where that is not there, the task waits for a worker that has it.
 */
export async function claimSlot(task: Task, record: TaskRecord): Promise<Claim | undefined> {
  const { unpinned } = record.place;
  let chosen: Choice | undefined;
  for (;;) {
    const { home } = record.place;
    const queue = home ?? (chosen ? pinnedTo(unpinned, chosen.coder) : unpinned);
    const answer = await ask(task, record, { queue, chosen, home: home !== undefined });
    record.place.home = undefined;
    if (answer === 'again') return undefined;
    if (answer === 'longer') continue;
    if (answer === 'nobody') {
      chosen = undefined;
      record.redirected(null);
    } else if ('triage' in answer) {
      record.triaged(await triage(task, record, answer.triage));
    } else {
      if (answer.triaged) record.triaged(answer.triaged);
      if (!('redirect' in answer)) return answer;
      chosen = answer.redirect;
      record.redirected({ ...chosen, claimQueue: pinnedTo(unpinned, chosen.coder) });
    }
  }
}

const pinnedTo = (queue: string, coder: string): string => claimQueue({ queue, coder });

async function ask(
  task: Task,
  record: TaskRecord,
  { queue, chosen, home }: { queue: string; chosen: Choice | undefined; home: boolean },
): Promise<ClaimAnswer | 'again' | 'longer' | 'nobody'> {
  const { key, untilMs } = record.place.urgency(record.view.priority, task);
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
  const { triaged, attempts } = record.view;
  const met = metAt(record.counted);
  const order = {
    ...{ taskId: record.view.id, n: record.nextRun },
    ...(coder ? { coder } : {}),
    ...(model ? { model } : {}),
    ...(task.credential ? { credential: task.credential } : {}),
    facts: { ...factsOf(task, attempts.used + 1), ...(triaged ? { class: triaged.class } : {}) },
    ...(chosen ? { chosen } : {}),
    ...(met ? { met } : {}),
  };
  const waiting = new CancellationScope();
  const claimed = waiting.run(() => registerRun(order));
  const woken = condition(() => record.candidate !== undefined || record.place.moved).then(() => waiting.cancel());
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

/** How a claim's wait for a slot ended; undefined where something else failed. A hand-back at the deadline counts. */
function timedOut(error: unknown): string | undefined {
  if (!(error instanceof ActivityFailure)) return undefined;
  const { cause } = error;
  if (cause instanceof TimeoutFailure) return cause.timeoutType;
  return cause instanceof ApplicationFailure && cause.type === 'HandBack' ? 'HAND_BACK' : undefined;
}

/** Never fails: a worker that is gone, or takes too long, leaves the default. */
async function triage(task: Task, record: TaskRecord, asked: TriageAsk): Promise<Triaged> {
  const { triageTask } = proxyActivities<Activities>({
    taskQueue: asked.hostQueue,
    summary: 'triage',
    scheduleToCloseTimeout: asked.timeoutMs + MARGIN_MS,
    retry: { maximumAttempts: 1 },
  });
  try {
    return await triageTask({ taskId: record.view.id, task });
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { class: asked.default, by: `triage.default, as worker ${asked.worker} did not say` };
  }
}
