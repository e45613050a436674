import {
  ApplicationFailure,
  proxyLocalActivities,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { TaskServices } from '../../activities/services/task-services.ts';
import { object } from '../../domain/values/json.ts';
import { isTaskId } from '../../domain/names.ts';
import { taskDigest } from '../../domain/task/task-digest.ts';
import { saidAtStart } from '../../domain/list/task-row.ts';
import type { Task } from '../../domain/task/schema.ts';
import { ATTRIBUTES, MEMO } from '../../search-attributes.ts';

/** The task, where a client of ours has parsed it: its digest tells that nobody changed it since. */
export const parsedTask = (input: unknown, digest: unknown): Task | undefined =>
  digest === taskDigest(input) ? (input as Task) : undefined;

/**
 * The task that somebody wrote by hand, e.g. for the `temporal` program, parsed by the worker: the schemas are too heavy for a
 * workflow. Without a `queue` it waits in the one that it was started in.
 * @throws ApplicationFailure InvalidTask, not retryable, with one sentence
 */
export async function parseInput(input: unknown): Promise<Task> {
  const { taskQueue: queue } = workflowInfo();
  const { parseTask } = proxyLocalActivities<TaskServices>({ startToCloseTimeout: '30s', summary: 'parse the task' });
  const parsed = await parseTask(object(input) ? { queue, ...object(input) } : input);
  if (!parsed.ok) throw invalid(parsed.message);
  return parsed.task;
}

/** @throws ApplicationFailure InvalidTask where the workflow's id is no task's */
export function taskId(): string {
  const { workflowId: id } = workflowInfo();
  if (!isTaskId(id))
    throw invalid(`id ${id} must be lower-case words joined by ".", "_" or "-", 64 characters at most`);
  return id;
}

/** Lists say why as well. */
function invalid(why: string): ApplicationFailure {
  const message = `invalid task: ${why}`;
  const { taskQueue: claimQueue, startTime } = workflowInfo();
  upsertSearchAttributes([{ key: ATTRIBUTES.reason, value: 'invalid-task' }]);
  upsertMemo({ [MEMO.said]: { ...saidAtStart({ claimQueue }), since: startTime.toISOString(), message } });
  return ApplicationFailure.nonRetryable(message, 'InvalidTask');
}
