import type { NativeConnection } from '@temporalio/worker';
import proto from '@temporalio/proto';

/** Whether any of the queues has activity tasks waiting. */
export async function hasBacklog(where: {
  connection: NativeConnection;
  namespace: string;
  queues: readonly string[];
}): Promise<boolean> {
  const { connection, namespace } = where;
  const counts = await Promise.all(
    where.queues.map(async (name) => {
      const { stats } = await connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name },
        taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
        reportStats: true,
      });
      return Number(stats?.approximateBacklogCount ?? 0);
    }),
  );
  return counts.some((count) => count > 0);
}
