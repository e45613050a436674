import proto from '@temporalio/proto';
import type { Wire } from './wire.ts';

const { TASK_QUEUE_TYPE_ACTIVITY: ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW: WORKFLOW } =
  proto.temporal.api.enums.v1.TaskQueueType;

/** What the server knows of a queue. */
export interface QueueFacts {
  /** Identities that polled it in the last minutes. */
  pollers: string[];
  /** Claims that wait in it, about; null where the server does not count them. */
  backlog: number | null;
}

/** `claims`: where `registerRun` waits; `workflows`: where the task's own workflow is worked on, also by a full worker. */
export async function describeQueue({ client }: Wire, name: string, side: 'claims' | 'workflows'): Promise<QueueFacts> {
  const found = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name },
    taskQueueType: side === 'claims' ? ACTIVITY : WORKFLOW,
    reportStats: true,
  });
  const count = found.stats?.approximateBacklogCount;
  return {
    pollers: [...new Set((found.pollers ?? []).flatMap(({ identity }) => identity || []))],
    backlog: count === null || count === undefined ? null : Number(count),
  };
}
