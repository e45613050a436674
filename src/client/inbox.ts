import { inboxItem, WAITING, type InboxItem } from '../domain/inbox.ts';
import { WORKFLOW_TYPE } from '../domain/names.ts';
import { ATTRIBUTES } from '../workflows/attributes.ts';
import { Attended, viewTask } from './view.ts';
import { mapBounded, type Wire } from './wire.ts';

const WIDTH = 12;

/** All that waits for a person: questions by their deadlines, then what waits longest. */
export async function readInbox(wire: Wire): Promise<InboxItem[]> {
  const attended = new Attended(wire);
  const states = WAITING.map((state) => `'${state}'`).join(', ');
  const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ExecutionStatus = 'Running' AND ${ATTRIBUTES.state.name} IN (${states})`;
  const ids: string[] = [];
  for await (const { workflowId } of wire.client.workflow.list({ query })) ids.push(workflowId);
  const reports = await mapBounded([...new Set(ids)], WIDTH, (id) => viewTask(wire, id, attended));
  return reports.flatMap((report) => inboxItem(report) ?? []).sort((one, other) => urgency(one, other));
}

const LAST = '9999';
function urgency(one: InboxItem, other: InboxItem): number {
  const byDeadline = (one.deadline ?? LAST).localeCompare(other.deadline ?? LAST);
  return byDeadline || (one.since ?? LAST).localeCompare(other.since ?? LAST);
}
