import { WorkflowFailedError, type WorkflowExecutionDescription, type WorkflowExecutionInfo } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NO_USAGE } from '../../domain/agent/event.ts';
import {
  forgottenRunOf,
  forgottenSentence,
  type ForgottenBy,
  type RollbackNotice,
} from '../../domain/worker/rollback.ts';
import { claimQueue, WORKFLOW_TYPE } from '../../domain/names.ts';
import type { Progress, TaskView } from '../../domain/view/task-view.ts';
import { OPEN_STATES, type TaskState } from '../../domain/task/state.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import { viewQuery } from '../../workflows/messages.ts';
import { whyNoAnswer } from './no-answer.ts';
import { pollersOf } from '../fleet/queues.ts';
import { onServersClock } from '../fleet/clock.ts';
import { stateFrom } from './rows.ts';
import { readNotices } from '../fleet/rollback.ts';
import { answered, decoded, isNotFound, unknownTask, type FleetConnection } from '../connection.ts';

/** A task as the client shows it: its view, what its live activity last said, and whether a worker was there to tell. */
export interface TaskReport extends TaskView {
  live: Progress | null;
  /** No worker answered: only what the server itself knows. */
  partial: boolean;
  /** The newest run of it that a worker had, and that the server's database, which was rolled back, does not know. */
  forgotten?: ForgottenBy;
}

/** Closed, or held for a person: nothing more happens by itself. */
export const isSettled = ({ state }: Pick<TaskView, 'state'>): boolean =>
  state === 'parked' || !(OPEN_STATES as readonly string[]).includes(state);

/** Which queues have a worker that answers, and what workers noticed of a rollback: asked once by a caller that looks at many tasks. */
export class Attended {
  readonly #wire: FleetConnection;
  readonly #known = new Map<string, Promise<boolean>>();
  readonly #whyNot = new Map<string, Promise<string>>();
  #notices: Promise<RollbackNotice[]> | undefined;

  constructor(wire: FleetConnection) {
    this.#wire = wire;
  }

  has(queue: string): Promise<boolean> {
    const known =
      this.#known.get(queue) ?? pollersOf(this.#wire, queue, 'workflows').then((pollers) => pollers.length > 0);
    this.#known.set(queue, known);
    return known;
  }

  notices(): Promise<RollbackNotice[]> {
    this.#notices ??= readNotices(this.#wire.client);
    return this.#notices;
  }

  /** It polled a while ago, and does not answer now: who polls is known for minutes longer. */
  silent(queue: string): void {
    this.#known.set(queue, Promise.resolve(false));
  }

  whyNot(queue: string): Promise<string> {
    const why = this.#whyNot.get(queue) ?? whyNoAnswer(this.#wire, queue);
    this.#whyNot.set(queue, why);
    return why;
  }
}

/** @throws FleetError (2) for an unknown id */
export async function viewTask(wire: FleetConnection, id: string, attended = new Attended(wire)): Promise<TaskReport> {
  return reportOf(wire, await describeTask(wire, id), attended);
}

export async function describeTask({ client }: FleetConnection, id: string): Promise<WorkflowExecutionDescription> {
  try {
    const described = await client.workflow.getHandle(id).describe();
    if (described.type === WORKFLOW_TYPE) return described;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  const forgotten = forgottenRunOf(await readNotices(client), id);
  throw unknownTask(id, forgotten && forgottenSentence(forgotten));
}

export async function reportOf(
  wire: FleetConnection,
  described: WorkflowExecutionDescription,
  attended = new Attended(wire),
): Promise<TaskReport> {
  const closed = described.status.name === 'COMPLETED' || described.status.name === 'FAILED';
  const [view, live, notices] = await Promise.all([
    closed ? resultOf(wire, described) : queried(wire, described, attended),
    progressOf(wire, described),
    described.status.name === 'RUNNING' ? attended.notices() : [],
  ]);
  const known = { ...(view ?? (await unansweredView(described, attended))), live, partial: !view };
  const forgotten = forgottenRunOf(notices, described.workflowId);
  const report = forgotten ? { ...known, forgotten, message: messageOf(known, forgotten) } : known;
  if (described.status.name !== 'TERMINATED') return report;
  return { ...report, state: 'cancelled', message: 'terminated', endedAt: described.closeTime?.toISOString() ?? null };
}

const messageOf = ({ message }: TaskView, forgotten: ForgottenBy): string =>
  [forgottenSentence(forgotten), message].filter(Boolean).join('; ');

async function queried(
  wire: FleetConnection,
  { workflowId, taskQueue }: WorkflowExecutionDescription,
  attended: Attended,
) {
  if (!(await attended.has(taskQueue))) return undefined;
  const view = await answered(wire, () => wire.client.workflow.getHandle(workflowId).query(viewQuery));
  if (!view) attended.silent(taskQueue);
  return view;
}

async function resultOf(
  { client }: FleetConnection,
  described: WorkflowExecutionDescription,
): Promise<TaskView | undefined> {
  try {
    return (await client.workflow.getHandle(described.workflowId).result()) as TaskView;
  } catch (error) {
    const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
    if (!(cause instanceof ApplicationFailure)) throw error;
    const [view] = (cause.details ?? []) as [TaskView?];
    const reason = cause.type === 'InvalidTask' ? ('invalid-task' as const) : null;
    return view ?? { ...(await fromServer(described)), reason, message: cause.message };
  }
}

/** What the live activity of a task last said, from the server alone. */
export async function progressOf(
  { client }: FleetConnection,
  { raw }: WorkflowExecutionDescription,
): Promise<Progress | null> {
  for (const { heartbeatDetails, lastHeartbeatTime } of raw.pendingActivities ?? []) {
    const said = await decoded(client, heartbeatDetails?.payloads ?? []);
    if (typeof said === 'object' && said !== null && 'runId' in said)
      return byServersClock(said as Progress, Number(lastHeartbeatTime?.seconds ?? 0) * 1_000);
  }
  return null;
}

function byServersClock(said: Progress, heardMs: number): Progress {
  const { at, lastEventAt } = said;
  if (!at || !lastEventAt) return said;
  const skew = { saidAt: at, heardMs };
  return { ...said, at: onServersClock(at, skew), lastEventAt: onServersClock(lastEventAt, skew) };
}

/** The state that the server keeps, without a worker's help. */
export function stateOf({
  status,
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, 'status' | 'typedSearchAttributes'>): TaskState {
  return stateFrom(status.code, typedSearchAttributes.get(ATTRIBUTES.state) as TaskState | undefined);
}

async function unansweredView(described: WorkflowExecutionDescription, attended: Attended): Promise<TaskView> {
  const why = await attended.whyNot(described.taskQueue);
  return { ...(await fromServer(described)), message: `${why}: this is what the server knows` };
}

async function fromServer(described: WorkflowExecutionDescription): Promise<TaskView> {
  const { workflowId, typedSearchAttributes: known, startTime, closeTime, taskQueue } = described;
  const queue = known.get(ATTRIBUTES.queue) ?? taskQueue;
  const objective = (await described.staticDetails()) ?? '';
  return {
    id: workflowId,
    title: (await described.staticSummary()) ?? workflowId,
    type: 'code',
    state: stateOf(described),
    reason: (known.get(ATTRIBUTES.reason) as TaskView['reason'] | undefined) ?? null,
    message: null,
    objective,
    repo: known.get(ATTRIBUTES.repo) ?? null,
    base: null,
    queue,
    claimQueue: claimQueue({ queue }),
    priority: known.get(ATTRIBUTES.priority) ?? 50,
    coder: known.get(ATTRIBUTES.coder) ?? null,
    model: null,
    worker: known.get(ATTRIBUTES.worker) ?? null,
    attempts: { used: 0, max: 0 },
    ...{ runs: [], receipts: [], verdict: null, branch: null, commit: null, usage: NO_USAGE },
    labels: known.get(ATTRIBUTES.labels) ?? [],
    createdAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
    ...{ retryAt: null, decision: null },
  };
}
