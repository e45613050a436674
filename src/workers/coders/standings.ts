import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { stateOf } from '../../client/read/view.ts';
import { isNotFound, mapBounded } from '../../client/connection.ts';
import { WORKFLOW_TYPE } from '../../domain/names.ts';
import type { Standing } from '../../domain/worker/retention.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';

const BATCH = 50;
const WIDTH = 8;
const DEADLINE_MS = 10_000;

/** What the server says of tasks, closed ones by the page. What it does not list as closed is looked at one by one. */
export async function standingsOf(client: Client, ids: readonly string[]): Promise<Map<string, Standing>> {
  const found = new Map<string, Standing>();
  for (let at = 0; at < ids.length; at += BATCH) {
    const some = ids.slice(at, at + BATCH).map((id) => `'${id}'`);
    const query = `WorkflowType = '${WORKFLOW_TYPE}' AND WorkflowId IN (${some.join(', ')})`;
    for await (const info of client.workflow.list({ query, pageSize: BATCH }))
      if (info.status.name !== 'RUNNING') found.set(info.workflowId, standing(info));
  }
  const doubtful = ids.filter((id) => !found.has(id));
  await mapBounded(doubtful, WIDTH, async (id) => found.set(id, await standingOf(client, id)));
  return found;
}

/** What the server says of one task at this moment. */
export async function standingOf(client: Client, id: string): Promise<Standing> {
  try {
    return standing(
      await client.withDeadline(Date.now() + DEADLINE_MS, () => client.workflow.getHandle(id).describe()),
    );
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

const standing = (info: Pick<WorkflowExecutionInfo, 'status' | 'typedSearchAttributes'>): Standing => ({
  state: stateOf(info),
  worker: info.typedSearchAttributes.get(ATTRIBUTES.worker) ?? null,
});
