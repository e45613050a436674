import { forgottenRunOf, forgottenSentence, type ForgottenBy } from '../../domain/worker/rollback.ts';
import type { Progress } from '../../domain/view/task-view.ts';
import { CLOSED_STATES, OPEN_STATES, type TaskState } from '../../domain/task/state.ts';
import { isOnWorker, type TaskRow } from '../../domain/list/task-row.ts';
import { isClosed } from '../../domain/scheduling/dependencies.ts';
import { FleetError } from '../../domain/error.ts';
import { WORKFLOW_TYPE } from '../../domain/names.ts';
import { inStates, listRows, rowFrom } from './rows.ts';
import { readNotices } from '../fleet/rollback.ts';
import { describeTask, progressOf } from './view.ts';
import { mapBounded, type FleetConnection } from '../connection.ts';

export const TASK_STATES: readonly TaskState[] = [...OPEN_STATES, ...CLOSED_STATES];
/** How many closed tasks are shown beside the open ones where nothing else is asked for. */
export const RECENT = 20;
const WIDTH = 12;
const WAITING: readonly TaskState[] = ['queued', 'blocked'];

export interface TaskFilter {
  states?: readonly TaskState[];
  /** All closed tasks that the server remembers, not just the most recent. */
  all?: boolean;
  /** Open tasks at most: those that wait in a queue are left out first, the oldest ones of them. */
  limit?: number;
}

/** A task of a list. */
export interface ListedTask extends TaskRow {
  /** What its live activity last said. */
  live: Progress | null;
  /** The newest run of it that a worker had, and that the server's database, which was rolled back, does not know. */
  forgotten?: ForgottenBy;
}

/** Open tasks first, newest first; then closed ones, last closed first. */
export async function listTasks(wire: FleetConnection, filter: TaskFilter = {}): Promise<ListedTask[]> {
  const { states = TASK_STATES, all = false, limit = Infinity } = filter;
  const closed = closedClause(states);
  // In this order: one that ends in between is found twice, and not left out.
  const openRows = await listOpen(wire, states.filter(isOpen), limit);
  const closedRows = closed ? await listRows(wire, closed, all ? Infinity : RECENT) : [];
  const ended = new Set(closedRows.map(({ id }) => id));
  const rows = [...openRows.filter(({ id }) => !ended.has(id)), ...closedRows];
  const notices = openRows.length > 0 ? await readNotices(wire.client) : [];
  const listed = await mapBounded(rows, WIDTH, async (row): Promise<ListedTask> => {
    const now = isOnWorker(row) ? await lookAt(wire, row) : { ...row, live: null };
    const forgotten = isClosed(now.state) ? undefined : forgottenRunOf(notices, now.id);
    if (!forgotten) return now;
    return { ...now, forgotten, message: [forgottenSentence(forgotten), now.message].filter(Boolean).join('; ') };
  });
  return listed.filter(({ state }) => states.includes(state));
}

/** How many open ones are in these states, by the server's index. */
export async function countOpen({ client }: FleetConnection, states: readonly TaskState[]): Promise<number> {
  return (await client.workflow.count(`WorkflowType = '${WORKFLOW_TYPE}' AND ${openClause(states.filter(isOpen))}`))
    .count;
}

const isOpen = (state: TaskState): boolean => !isClosed(state);
const openClause = (states: readonly TaskState[]): string =>
  states.length < OPEN_STATES.length ? inStates(states) : `ExecutionStatus = 'Running'`;

async function listOpen(wire: FleetConnection, states: readonly TaskState[], limit: number): Promise<TaskRow[]> {
  if (states.length === 0) return [];
  const rows = await listRows(wire, openClause(states), limit);
  const others = states.filter((state) => !WAITING.includes(state));
  if (rows.length < limit || others.length === 0) return rows;
  const atWork = await listRows(wire, inStates(others), limit);
  const known = new Set(atWork.map(({ id }) => id));
  const waiting = rows.filter(({ id }) => !known.has(id)).slice(0, limit - atWork.length);
  return [...atWork, ...waiting].sort((one, other) => other.createdAt.localeCompare(one.createdAt));
}

/** One that is on a worker: there are as many as there are slots. */
export async function lookAt(wire: FleetConnection, row: TaskRow): Promise<ListedTask> {
  try {
    const described = await describeTask(wire, row.id);
    const { workflowExecutionInfo } = described.raw;
    const now = workflowExecutionInfo ? await rowFrom(wire.client, workflowExecutionInfo) : row;
    return { ...now, live: await progressOf(wire, described) };
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    return { ...row, live: null };
  }
}

const STATUSES: Record<(typeof CLOSED_STATES)[number], string[]> = {
  done: ['Completed'],
  failed: ['Failed', 'TimedOut'],
  cancelled: ['Canceled', 'Terminated'],
};

function closedClause(states: readonly TaskState[]): string | undefined {
  const statuses = CLOSED_STATES.filter((state) => states.includes(state)).flatMap((state) => STATUSES[state]);
  return statuses.length ? `ExecutionStatus IN (${statuses.map((status) => `'${status}'`).join(', ')})` : undefined;
}
