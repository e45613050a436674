import proto from '@temporalio/proto';
import { WORKFLOW_TYPE } from '../../domain/names.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import type { FleetConnection } from '../connection.ts';

const { TASK_QUEUE_TYPE_ACTIVITY: ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW: WORKFLOW } =
  proto.temporal.api.enums.v1.TaskQueueType;

/**
 * Identities that polled a queue in the last minutes. `claims`: where `registerRun` waits; `workflows`: where the task's own
 * workflow is worked on, also by a full worker.
 */
export async function pollersOf(
  { client }: FleetConnection,
  name: string,
  side: 'claims' | 'workflows',
): Promise<string[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name },
    taskQueueType: side === 'claims' ? ACTIVITY : WORKFLOW,
  });
  return [...new Set((pollers ?? []).flatMap(({ identity }) => identity || []))];
}

/**
 * How many open tasks of a queue wait for a slot, by the server's index, which lags a little. Its count of what waits in the
 * task queue itself misses those whose workflow no worker has begun yet.
 */
export async function countQueued({ client }: FleetConnection, queue: string): Promise<number> {
  const waits = `${ATTRIBUTES.queue.name} = '${queue}' AND ${ATTRIBUTES.state.name} = 'queued'`;
  const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ExecutionStatus = 'Running' AND ${waits}`;
  return (await client.workflow.count(query)).count;
}
