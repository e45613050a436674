import {
  ApplicationFailure,
  condition,
  getExternalWorkflowHandle,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ScheduleServices } from '../../activities/services/schedule-services.ts';
import type { TaskServices } from '../../activities/services/task-services.ts';
import { scheduledTaskId } from '../../domain/names.ts';
import { CLOSED_STATES, type TaskState } from '../../domain/task/state.ts';
import type { ScheduledTask } from '../../domain/produce/schedule.ts';
import { dependantSignal, dependencySignal } from '../messages.ts';

/** A task that was terminated does not say so. */
const LOOK_EVERY = '1h';

/**
 * Started by a schedule: puts its task into the queue, under an id that is made of the time. Where tasks of the schedule must
 * not overlap it lasts until that one is closed, and the schedule starts no other meanwhile.
 */
export async function scheduledTask({
  overlap,
  input,
}: ScheduledTask): Promise<{ task: string; state: TaskState | null }> {
  const { workflowId } = workflowInfo();
  const task = scheduledTaskId(workflowId);
  let state: TaskState | null = null;
  setHandler(dependencySignal, (said) => void (state = said.state));
  const refused = await desk.enqueueScheduled({ id: task, input });
  if (refused !== null) throw ApplicationFailure.nonRetryable(refused, 'Refused');
  setCurrentDetails(`task ${task}`);
  if (overlap === 'allow') return { task, state };

  await getExternalWorkflowHandle(task)
    .signal(dependantSignal, { id: workflowId })
    .catch(() => undefined);
  const closed = () => CLOSED_STATES.some((end) => end === state);
  const look = async () => (state = (await desk.lookUpTasks([task]))[0]?.state ?? 'cancelled');
  await look();
  while (!closed() && !(await condition(closed, LOOK_EVERY))) await look();
  return { task, state };
}

const desk = proxyLocalActivities<TaskServices & ScheduleServices>({
  startToCloseTimeout: '2m',
  retry: { maximumInterval: '1m' },
  localRetryThreshold: '10s',
});
