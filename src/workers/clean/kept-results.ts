import { existsSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import type { Deps } from '../../activities/worker/context.ts';
import { answered, mapBounded } from '../../client/connection.ts';
import { isTaskId, WORKFLOW_TYPE } from '../../domain/names.ts';
import { keeperOf } from '../../domain/view/task-view.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import { viewQuery } from '../../workflows/messages.ts';

const DEADLINE_MS = 3_000;
const WIDTH = 8;

/**
 * Ids of the open tasks whose accepted result waits on this worker to be delivered, which no other one can do. `ended`: tasks
 * that had a run here a moment ago, which the server may not list yet.
 */
export async function keptResults(
  { config, home, worker }: Pick<Deps, 'config' | 'home' | 'worker'>,
  client: Client,
  ended: Iterable<string>,
): Promise<string[]> {
  const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ExecutionStatus = 'Running' AND ${ATTRIBUTES.state.name} IN ('awaiting-approval', 'delivering')`;
  const ids = new Set(ended);
  await client.withDeadline(Date.now() + DEADLINE_MS, async () => {
    for await (const { workflowId } of client.workflow.list({ query })) ids.add(workflowId);
  });
  const here = [...ids].filter((id) => isTaskId(id) && existsSync(home.task(id).dir));
  const kept = await mapBounded(here, WIDTH, async (id) => {
    const handle = client.workflow.getHandle(id);
    const view = await answered({ client, config }, () => handle.query(viewQuery));
    // Where nobody tells anything of one, it is better said too often.
    return !view || keeperOf(view) === worker.hostQueue ? [id] : [];
  });
  return kept.flat().sort();
}
