import type { Client } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';
import { object, type Json } from '../../domain/values/json.ts';
import { WORKFLOW_TYPE } from '../../domain/names.ts';
import type { TaskState } from '../../domain/task/state.ts';
import { rowOf, type Listed, type MadeOf, type SaidOf, type TaskRow } from '../../domain/list/task-row.ts';
import { ATTRIBUTES, MEMO } from '../../search-attributes.ts';
import { decoded, type FleetConnection } from '../connection.ts';

/**
 * Tasks from the server's list alone: no workflow is woken, no worker asked. It lags a little. What the SDK would make of each is
 * five times as much work as reading what is needed.
 */

type Info = temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** What the server gives by one call at most. */
const PAGE = 1_000;
/** Ids of one query. */
const BATCH = 50;

/** Newest first, `most` at most. `clause`: of Temporal's list filter. */
export async function listRows({ client }: FleetConnection, clause?: string, most = Infinity): Promise<TaskRow[]> {
  const rows = new Map<string, TaskRow>();
  const { namespace } = client.options;
  const query = `WorkflowType = '${WORKFLOW_TYPE}'${clause === undefined ? '' : ` AND ${clause}`}`;
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.listWorkflowExecutions({
      ...{ namespace, query, pageSize: Math.min(most, PAGE) },
      ...(nextPageToken ? { nextPageToken } : {}),
    });
    for (const info of page.executions) {
      const row = await rowFrom(client, info);
      if (rows.size < most) rows.set(row.id, row);
    }
    ({ nextPageToken } = page);
  } while (nextPageToken?.length && rows.size < most);
  return [...rows.values()];
}

/** Those of these ids that are listed. */
export async function listById(wire: FleetConnection, ids: readonly string[]): Promise<TaskRow[]> {
  const rows: TaskRow[] = [];
  for (let at = 0; at < ids.length; at += BATCH) {
    const some = ids.slice(at, at + BATCH).map(quoted);
    rows.push(...(await listRows(wire, `WorkflowId IN (${some.join(', ')})`)));
  }
  return rows;
}

/** Open tasks in these states. One that was started by hand has none, until a worker has begun it. */
export function inStates(states: readonly TaskState[]): string {
  const known = `${ATTRIBUTES.state.name} IN (${states.map(quoted).join(', ')})`;
  const unset = states.includes('queued') ? ` OR ${ATTRIBUTES.state.name} IS NULL` : '';
  return `ExecutionStatus = 'Running' AND (${known}${unset})`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export async function rowFrom(client: Client, info: Info): Promise<TaskRow> {
  const { execution, status, startTime, closeTime, memo, searchAttributes, taskQueue } = info;
  const made = (await entry(client, memo, MEMO.made)) as MadeOf | undefined;
  const said = (await entry(client, memo, MEMO.said)) as SaidOf | undefined;
  const told = toldBy(searchAttributes?.indexedFields ?? {});
  const listed: Listed = {
    id: execution?.workflowId ?? '',
    taskQueue: taskQueue ?? '',
    told,
    state: stateFrom(status, told.state),
    terminated: status === Status.WORKFLOW_EXECUTION_STATUS_TERMINATED,
    startedAt: iso(startTime) ?? '',
    closedAt: iso(closeTime),
  };
  if (typeof made?.title === 'string') listed.made = made;
  if (said && object(said.lasting)) listed.said = said;
  return rowOf(listed);
}

type Fields = Record<string, temporal.api.common.v1.IPayload>;

function toldBy(fields: Fields): Listed['told'] {
  const told: Record<string, unknown> = {};
  for (const [key, { name, type }] of Object.entries(ATTRIBUTES)) {
    const data = fields[name]?.data;
    if (!data) continue;
    const value: unknown = JSON.parse(Buffer.from(data).toString());
    const [one] = Array.isArray(value) ? (value as unknown[]) : [value];
    if (type === 'KEYWORD_LIST') told[key] = Array.isArray(value) ? value : [value];
    else if (one !== null && one !== undefined) told[key] = type === 'DATETIME' ? instant(one as string) : one;
  }
  return told as Listed['told'];
}

const instant = (text: string): string => new Date(text).toISOString();

async function entry(client: Client, memo: Info['memo'], name: string): Promise<Json | undefined> {
  const payload = memo?.fields?.[name];
  return payload ? object(await decoded(client, [payload])) : undefined;
}

const { WorkflowExecutionStatus: Status } = proto.temporal.api.enums.v1;

const CLOSED = new Map<Info['status'], TaskState>([
  [Status.WORKFLOW_EXECUTION_STATUS_COMPLETED, 'done'],
  [Status.WORKFLOW_EXECUTION_STATUS_CANCELED, 'cancelled'],
  [Status.WORKFLOW_EXECUTION_STATUS_TERMINATED, 'cancelled'],
]);

/** `told`: by its search attribute. */
export function stateFrom(status: Info['status'], told: TaskState | undefined): TaskState {
  const { WORKFLOW_EXECUTION_STATUS_RUNNING: RUNNING, WORKFLOW_EXECUTION_STATUS_PAUSED: PAUSED } = Status;
  if (status === RUNNING || status === PAUSED) return told ?? 'queued';
  return CLOSED.get(status) ?? 'failed';
}

/** Whole milliseconds, as the SDK has it. */
const iso = (time: Info['startTime']): string | null =>
  time ? new Date(Number(time.seconds ?? 0) * 1_000 + Math.floor((time.nanos ?? 0) / 1e6)).toISOString() : null;
