import { WAITING } from '../../domain/list/inbox.ts';
import type { TaskState } from '../../domain/task/state.ts';
import type { TaskRow } from '../../domain/list/task-row.ts';
import type { FleetConnection } from '../connection.ts';
import { inStates, listById, listRows } from './rows.ts';

/** How a task stands as lists have it, which lag a little; `stamp` is another text after each change of state, and of what it says. */
export interface Stamp {
  state: TaskState;
  stamp: string;
}

/** Stamps of all tasks that wait for a person, and of those that are named; no worker is asked, and no task is described. */
export async function readStamps(wire: FleetConnection, ids: readonly string[]): Promise<Map<string, Stamp>> {
  const rows = [...(await listRows(wire, inStates(WAITING))), ...(await listById(wire, ids))];
  return new Map(rows.map((row) => [row.id, { state: row.state, stamp: stampOf(row) }]));
}

const stampOf = ({ state, since, endedAt, message, runs }: TaskRow): string =>
  [state, since, endedAt ?? '', runs.length, message ?? ''].join(' ');
