import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { redact } from '../adapters/git/git.ts';
import { FleetError } from '../domain/error.ts';
import { priorityKey, WORKFLOW_TYPE } from '../domain/names.ts';
import { titleOf, type Task } from '../domain/task.ts';
import { ATTRIBUTES } from '../workflows/attributes.ts';
import type { Wire } from './wire.ts';

/** The server takes 400 and 20,000 bytes, as JSON. */
const SUMMARY_BYTES = 390;
const DETAILS_BYTES = 19_900;
/** Keyword columns of the SQL stores. */
const KEYWORD_LENGTH = 255;

/** The one place where a task's workflow is started. The same id twice is refused by the server. */
export async function startTask({ client }: Wire, id: string, task: Task): Promise<void> {
  try {
    await client.workflow.start(WORKFLOW_TYPE, {
      workflowId: id,
      taskQueue: task.queue,
      args: [task],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      staticSummary: clipBytes(titleOf(task), SUMMARY_BYTES),
      staticDetails: clipBytes(task.objective, DETAILS_BYTES),
      priority: { priorityKey: priorityKey(task.priority) },
      typedSearchAttributes: [
        { key: ATTRIBUTES.state, value: 'queued' },
        { key: ATTRIBUTES.queue, value: task.queue },
        { key: ATTRIBUTES.priority, value: task.priority },
        { key: ATTRIBUTES.type, value: task.type },
        ...(task.repo ? [{ key: ATTRIBUTES.repo, value: redact(task.repo).slice(0, KEYWORD_LENGTH) }] : []),
        ...(task.labels.length ? [{ key: ATTRIBUTES.labels, value: task.labels }] : []),
        ...(task.coder ? [{ key: ATTRIBUTES.coder, value: task.coder }] : []),
      ],
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) throw taken(id);
    throw error;
  }
}

export const taken = (id: string): FleetError =>
  new FleetError(`there is a task ${id} already: see fleet task ${id}`, { exitCode: 2 });

/** The longest start of a text whose JSON form fits. */
export function clipBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(JSON.stringify(text)) <= bytes) return text;
  let [fits, tooLong] = [0, text.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (Buffer.byteLength(JSON.stringify(`${text.slice(0, middle)}…`)) <= bytes) fits = middle;
    else tooLong = middle;
  }
  return `${text.slice(0, fits)}…`;
}
