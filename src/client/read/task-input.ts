import { parseTask, type Parsed } from '../../domain/task/parse.ts';
import { decoded, type FleetConnection } from '../connection.ts';

/** The task that a workflow was started with, as its history begins; `runId` is Temporal's. */
export async function readTaskInput(
  { client }: FleetConnection,
  { id, runId }: { id: string; runId: string },
): Promise<Parsed> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId: id, runId },
    maximumPageSize: 1,
  });
  const payloads = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return parseTask(await decoded(client, payloads));
}
