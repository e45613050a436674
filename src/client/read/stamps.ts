import { WAITING } from '../../domain/inbox.ts';
import { WORKFLOW_TYPE } from '../../domain/names.ts';
import type { TaskState } from '../../domain/run.ts';
import { ATTRIBUTES } from '../../workflows/attributes.ts';
import { stateOf } from '../view.ts';
import type { Wire } from '../wire.ts';

/** Ids of one query. */
const BATCH = 50;

/** How a task stands as lists have it, which lag a little; `stamp` is another text after each run, and in each state. */
export interface Stamp {
  state: TaskState;
  stamp: string;
}

/** Of all tasks that wait for a person, and of those that are named; no worker is asked, and no task is described. */
export async function readStamps(wire: Wire, ids: readonly string[]): Promise<Map<string, Stamp>> {
  const states = WAITING.map((state) => `'${state}'`).join(', ');
  const clauses = [`ExecutionStatus = 'Running' AND ${ATTRIBUTES.state.name} IN (${states})`];
  for (let at = 0; at < ids.length; at += BATCH) {
    const some = ids.slice(at, at + BATCH).map((id) => `'${id.replaceAll("'", "''")}'`);
    clauses.push(`WorkflowId IN (${some.join(', ')})`);
  }
  const found = new Map<string, Stamp>();
  for (const clause of clauses) {
    const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ${clause}`;
    for await (const info of wire.client.workflow.list({ query })) {
      const state = stateOf(info);
      const runs = info.typedSearchAttributes.get(ATTRIBUTES.runs) ?? [];
      found.set(info.workflowId, { state, stamp: `${state} ${runs.length} ${runs.at(-1) ?? ''}` });
    }
  }
  return found;
}
