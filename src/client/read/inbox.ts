import { inboxItem, WAITING, type InboxItem } from '../../domain/list/inbox.ts';
import { inStates, listRows } from './rows.ts';
import type { FleetConnection } from '../connection.ts';

/** All that waits for a person: questions by their deadlines, then what waits longest. By the server's list alone. */
export async function readInbox(wire: FleetConnection): Promise<InboxItem[]> {
  const rows = await listRows(wire, inStates(WAITING));
  return rows
    .flatMap((row) => row.waits ?? inboxItem({ ...row, runs: [] }) ?? [])
    .sort((one, other) => urgency(one, other));
}

const LAST = '9999';
function urgency(one: InboxItem, other: InboxItem): number {
  const byDeadline = (one.deadline ?? LAST).localeCompare(other.deadline ?? LAST);
  return byDeadline || (one.since ?? LAST).localeCompare(other.since ?? LAST);
}
