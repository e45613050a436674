import type { GraphNode } from '../domain/graph.ts';
import { WORKFLOW_TYPE } from '../domain/names.ts';
import { ATTRIBUTES } from '../workflows/attributes.ts';
import { stateOf } from './view.ts';
import type { Wire } from './wire.ts';

const PAGE = 1_000;

/** Tasks with what they wait for, oldest first, from the server's list alone. */
export async function listGraph({ client }: Wire): Promise<GraphNode[]> {
  const nodes: GraphNode[] = [];
  for await (const task of client.workflow.list({ query: `WorkflowType = '${WORKFLOW_TYPE}'`, pageSize: PAGE }))
    nodes.push({
      id: task.workflowId,
      state: stateOf(task),
      dependsOn: task.typedSearchAttributes.get(ATTRIBUTES.dependsOn) ?? [],
    });
  return nodes.toReversed();
}
