import { CLOSED_STATES, OPEN_STATES, type TaskState } from '../domain/run.ts';
import { WORKFLOW_TYPE } from '../domain/names.ts';
import { Attended, viewTask, type TaskReport } from './view.ts';
import { mapBounded, type Wire } from './wire.ts';

export const TASK_STATES: readonly TaskState[] = [...OPEN_STATES, ...CLOSED_STATES];
/** How many closed tasks are shown beside the open ones where nothing else is asked for. */
export const RECENT = 20;
const WIDTH = 12;

export interface TaskFilter {
  states?: readonly TaskState[];
  /** All closed tasks that the server remembers, not just the most recent. */
  all?: boolean;
}

/** Open tasks first, newest first; then closed ones, last closed first. */
export async function listTasks(wire: Wire, { states = TASK_STATES, all = false }: TaskFilter): Promise<TaskReport[]> {
  const attended = new Attended(wire);
  const open = openClause(states);
  const closed = closedClause(states);
  // In this order: one that ends in between is found twice, and not left out.
  const openIds = open ? await idsOf(wire, open, Infinity) : [];
  const closedIds = closed ? await idsOf(wire, closed, all ? Infinity : RECENT) : [];
  const reports = await mapBounded([...new Set([...openIds, ...closedIds])], WIDTH, (id) =>
    viewTask(wire, id, attended),
  );
  return reports.filter(({ state }) => states.includes(state));
}

async function idsOf({ client }: Wire, clause: string, most: number): Promise<string[]> {
  const ids: string[] = [];
  const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ${clause}`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize: Math.min(most, 500) })) {
    ids.push(workflowId);
    if (ids.length >= most) break;
  }
  return ids;
}

/** Visibility lags: whatever is open is looked at, so that a state that changed a moment ago is not missed. */
export function openClause(states: readonly TaskState[]): string | undefined {
  return states.some((state) => (OPEN_STATES as readonly string[]).includes(state))
    ? `ExecutionStatus = 'Running'`
    : undefined;
}

const STATUSES: Record<(typeof CLOSED_STATES)[number], string[]> = {
  done: ['Completed'],
  failed: ['Failed', 'TimedOut'],
  cancelled: ['Canceled', 'Terminated'],
};

export function closedClause(states: readonly TaskState[]): string | undefined {
  const statuses = CLOSED_STATES.filter((state) => states.includes(state)).flatMap((state) => STATUSES[state]);
  return statuses.length ? `ExecutionStatus IN (${statuses.map((status) => `'${status}'`).join(', ')})` : undefined;
}
