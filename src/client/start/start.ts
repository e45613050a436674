import { WorkflowExecutionAlreadyStartedError, type WorkflowExecutionDescription } from '@temporalio/client';
import { redact } from '../../adapters/git/git.ts';
import { levelsOf, stateAtStart } from '../../domain/scheduling/dependencies.ts';
import { taskDigest } from '../../domain/task/task-digest.ts';
import { wrongInput, alreadyExists } from '../../domain/error.ts';
import { followUpLabel, priorityOf, WORKFLOW_TYPE } from '../../domain/names.ts';
import { labelOf } from '../../domain/people/external-agent.ts';
import type { Task } from '../../domain/task/schema.ts';
import { madeOf } from '../../domain/list/task-row.ts';
import { titleOf } from '../../domain/task/title.ts';
import { ATTRIBUTES, MEMO } from '../../search-attributes.ts';
import { mapBounded, type FleetConnection } from '../connection.ts';

/** The server takes 400 and 20,000 bytes, as JSON. */
const SUMMARY_BYTES = 390;
const DETAILS_BYTES = 19_900;
/** Keyword columns of the SQL stores. */
const KEYWORD_LENGTH = 255;

/** A task to start; by the same `key` again it is the same one. */
interface ToStart {
  id: string;
  task: Task;
  key?: string;
}

const WIDTH = 8;

/** What others depend on first; `started` hears of each as soon as it is there. @throws FleetError as `startTask` */
export async function startAll<T extends ToStart>(
  wire: FleetConnection,
  tasks: readonly T[],
  started: (one: T) => void,
): Promise<void> {
  for (const level of levelsOf(tasks.map((one) => ({ ...one, dependsOn: one.task.dependsOn })))) {
    await mapBounded(level, WIDTH, async (one) => {
      await startTask(wire, one);
      started(one);
    });
  }
}

/** Those that are there already are left as they are. */
export async function startMissing(wire: FleetConnection, tasks: readonly ToStart[]): Promise<void> {
  await mapBounded(tasks, WIDTH, (one) => startUnlessThere(wire, one));
}

/** @throws FleetError (2) where there is another task by that id, or of that key */
export async function startTask(wire: FleetConnection, one: ToStart): Promise<void> {
  if (await startUnlessThere(wire, one)) return;
  await refuseOther(await wire.client.workflow.getHandle(one.id).describe(), one);
}

/** The one place where a task's workflow is started. False: the server has one by that id, which is left as it is. */
export async function startUnlessThere({ client }: FleetConnection, { id, task }: ToStart): Promise<boolean> {
  const labels = [
    ...task.labels,
    ...(task.for === undefined ? [] : [labelOf(task.for)]),
    ...(task.parent === undefined ? [] : [followUpLabel(task.parent)]),
  ];
  try {
    await client.workflow.start(WORKFLOW_TYPE, {
      workflowId: id,
      taskQueue: task.queue,
      args: [task, taskDigest(task)],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      staticSummary: clipBytes(titleOf(task), SUMMARY_BYTES),
      staticDetails: detailsOf(task),
      priority: priorityOf(task),
      memo: { [MEMO.made]: madeOf(task) },
      typedSearchAttributes: [
        { key: ATTRIBUTES.state, value: stateAtStart(task) },
        { key: ATTRIBUTES.queue, value: task.queue },
        { key: ATTRIBUTES.priority, value: task.priority },
        { key: ATTRIBUTES.type, value: task.type },
        ...(task.repo ? [{ key: ATTRIBUTES.repo, value: redact(task.repo).slice(0, KEYWORD_LENGTH) }] : []),
        ...(labels.length ? [{ key: ATTRIBUTES.labels, value: labels }] : []),
        ...(task.dependsOn.length ? [{ key: ATTRIBUTES.dependsOn, value: task.dependsOn }] : []),
        ...(task.coder ? [{ key: ATTRIBUTES.coder, value: task.coder }] : []),
      ],
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/** Refuses a task that is there: only the same key may name it again, with the same objective. */
export async function refuseOther(there: WorkflowExecutionDescription, { id, task, key }: ToStart): Promise<void> {
  if (key === undefined) throw alreadyExists(`there is a task ${id} already: see fleet task ${id}`);
  const details = await there.staticDetails();
  if (!details || details === detailsOf(task)) return;
  const why = `key ${key} is that of task ${id}, which has another objective`;
  throw wrongInput(`${why}: use another key, or see fleet task ${id}`);
}

/** What the server shows of a task beside its title. */
const detailsOf = ({ objective }: Task): string => clipBytes(objective, DETAILS_BYTES);

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
