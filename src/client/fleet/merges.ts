import { MERGE_TYPE } from '../../domain/names.ts';
import type { Merges } from '../../domain/deliver/merge.ts';
import type { FleetConnection } from '../connection.ts';

/** All targets that something waits for, or did a moment ago. */
export async function listMerges({ client }: FleetConnection): Promise<Merges[]> {
  const found: Merges[] = [];
  const query = `WorkflowType = '${MERGE_TYPE}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    const { memo } = await client.workflow.getHandle(workflowId).describe();
    if (memo?.['merges']) found.push(memo['merges'] as Merges);
  }
  return found.sort((a, b) => `${a.repo} ${a.into}`.localeCompare(`${b.repo} ${b.into}`));
}
