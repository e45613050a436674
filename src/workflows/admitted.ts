import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { object } from '../domain/json.ts';
import { isTaskId } from '../domain/names.ts';
import { parseTask, type Task } from '../domain/task.ts';

/**
 * The task that a workflow was started with, by our client or anybody's, and its id. Without a `queue` it waits in the one that
 * it was started in. Throws where either is no task's.
 */
export function admitted(input: unknown): { id: string; task: Task } {
  const { workflowId: id, taskQueue: queue } = workflowInfo();
  const parsed = parseTask(object(input) ? { queue, ...object(input) } : input, { admitted: true });
  if (!parsed.ok) throw invalid(parsed.message);
  if (!isTaskId(id))
    throw invalid(`id ${id} must be lower-case words joined by ".", "_" or "-", 64 characters at most`);
  return { id, task: parsed.task };
}

const invalid = (why: string) => ApplicationFailure.nonRetryable(`invalid task: ${why}`, 'InvalidTask');
