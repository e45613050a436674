import { ApplicationFailure, Context } from '@temporalio/activity';
import { bootSeconds } from '../../adapters/program/process.ts';

const DEADLINE_MS = 5_000;

/**
 * Asks the server whether the task still waits for this very attempt of an activity, for as long as it takes to hear, and
 * gives when it was asked, by `bootSeconds`. @throws where the server has given the attempt up
 */
export async function stillWanted(): Promise<number> {
  const { client, info, cancellationSignal, sleep } = Context.current();
  const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
  for (;;) {
    cancellationSignal.throwIfAborted();
    const asked = bootSeconds();
    try {
      const { raw } = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
        client.workflow.getHandle(workflowId, runId).describe(),
      );
      const mine = raw.pendingActivities?.find(({ activityId }) => activityId === info.activityId);
      if (mine?.attempt === info.attempt) return asked;
    } catch {
      await sleep(1_000);
      continue;
    }
    throw ApplicationFailure.nonRetryable('the server has given this attempt up', 'Superseded');
  }
}
