import type { NativeConnection } from '@temporalio/worker';
import proto from '@temporalio/proto';

const { TASK_QUEUE_TYPE_ACTIVITY: CLAIMS, TASK_QUEUE_TYPE_WORKFLOW: WORKFLOWS } =
  proto.temporal.api.enums.v1.TaskQueueType;

/** Whether in any of the queues a claim waits, or a task whose workflow has not got as far as to ask for one. */
export async function hasBacklog(where: {
  connection: NativeConnection;
  namespace: string;
  queues: readonly string[];
}): Promise<boolean> {
  const { connection, namespace, queues } = where;
  const counts = await Promise.all(
    queues.flatMap((name) =>
      [CLAIMS, WORKFLOWS].map(async (taskQueueType) => {
        const asked = { namespace, taskQueue: { name }, taskQueueType, reportStats: true };
        const { stats } = await connection.workflowService.describeTaskQueue(asked);
        return Number(stats?.approximateBacklogCount ?? 0);
      }),
    ),
  );
  return counts.some((count) => count > 0);
}
