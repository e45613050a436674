import { setTimeout as pause } from 'node:timers/promises';
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  WorkflowFailedError,
  type ScheduleDescription,
  type ScheduleHandle,
  type ScheduleSummary,
} from '@temporalio/client';
import { FleetError, wrongInput, notFound, alreadyExists } from '../../domain/error.ts';
import { formatDuration } from '../../domain/values/duration.ts';
import {
  ID_SHAPE,
  nameOfSchedule,
  SCHEDULE_NAME_MAX,
  SCHEDULED_TYPE,
  scheduledTaskId,
  scheduleId,
} from '../../domain/names.ts';
import type {
  ScheduledTask,
  ScheduleDetails,
  ScheduleInput,
  ScheduleView,
  ScheduleWhen,
} from '../../domain/produce/schedule.ts';
import { titleOf } from '../../domain/task/title.ts';
import { CLOSED_STATES } from '../../domain/task/state.ts';
import { admitTasks } from './admit.ts';
import { standingOf } from '../overview/standing.ts';
import type { FleetConnection } from '../connection.ts';

/** The least that the server takes: what it missed by more is not made up. */
export const CATCHUP = '10s';
/** How long a schedule may take to start its workflow after a trigger. */
const TRIGGER_MS = 20_000;
/** The server looks at all that the schedule has started each time. */
const ASK_MS = 300;

interface Memo {
  when: string;
  overlap: ScheduleInput['overlap'];
  title: string;
  queue: string;
}

/** Tasks that are put into the queue on a calendar: Temporal's schedules. */
export class Schedules {
  readonly #wire: FleetConnection;

  constructor(wire: FleetConnection) {
    this.#wire = wire;
  }

  /** Gives when it will fire first. @throws FleetError (2) where the task, the name or the calendar is wrong: nothing is left behind */
  async add(order: ScheduleInput): Promise<Date> {
    const { name, when, overlap } = order;
    if (!ID_SHAPE.test(name) || name.length > SCHEDULE_NAME_MAX)
      throw wrongInput(
        `the name of a schedule must be lower-case words joined by ".", "_" or "-", ${SCHEDULE_NAME_MAX} characters at most`,
      );
    const [admitted] = await admitTasks(this.#wire, [{ input: order.input }]);
    const { task } = admitted!;
    const input = {
      ...order.input,
      ...(task.repo ? { repo: task.repo } : {}),
      ...machineOf(task.machine),
      ...(task.cwd === undefined ? {} : { cwd: task.cwd }),
    };
    const memo: Memo = { when: whenText(when), overlap, title: titleOf(task), queue: task.queue };
    const args: [ScheduledTask] = [{ overlap, input }];
    const handle = await this.#create(when, {
      ...{ scheduleId: scheduleId(name), memo: { ...memo } },
      policies: { overlap: overlap === 'skip' ? 'SKIP' : 'ALLOW_ALL', catchupWindow: CATCHUP },
      action: {
        ...{ type: 'startWorkflow', workflowType: SCHEDULED_TYPE, workflowId: scheduleId(name) },
        ...{ taskQueue: task.queue, args },
      },
    });
    const [first] = (await handle.describe()).info.nextActionTimes;
    if (first) return first;
    await handle.delete();
    throw wrongInput(`${whenText(when)} never fires`);
  }

  async #create(
    when: ScheduleWhen,
    rest: Omit<Parameters<FleetConnection['client']['schedule']['create']>[0], 'spec'>,
  ) {
    const spec =
      'cron' in when
        ? { cronExpressions: [when.cron], ...(when.timezone ? { timezone: when.timezone } : {}) }
        : { intervals: [{ every: when.everyMs }] };
    try {
      return await this.#wire.client.schedule.create({ ...rest, spec });
    } catch (error) {
      const name = nameOfSchedule(rest.scheduleId);
      if (error instanceof ScheduleAlreadyRunning)
        throw alreadyExists(`there is a schedule ${name} already: see fleet schedule show ${name}`);
      // What the server finds wrong with the calendar.
      if (error instanceof TypeError) throw wrongInput(`${whenText(when)} is no calendar: ${error.message}`);
      throw error;
    }
  }

  async list(): Promise<ScheduleView[]> {
    const views: ScheduleView[] = [];
    for await (const summary of this.#wire.client.schedule.list()) {
      const name = nameOfSchedule(summary.scheduleId);
      if (name !== undefined) views.push(viewOf(name, summary));
    }
    return views.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  show = (name: string): Promise<ScheduleDetails> =>
    this.#with(name, async (handle) => detailsOf(name, await handle.describe()));
  /** What is open goes on. */
  pause = (name: string, note: string): Promise<void> => this.#with(name, (handle) => handle.pause(note || NO_NOTE));
  resume = (name: string, note: string): Promise<void> => this.#with(name, (handle) => handle.unpause(note || NO_NOTE));
  /** Its tasks stay. */
  remove = (name: string): Promise<void> => this.#with(name, (handle) => handle.delete());

  /** Now, also where it is paused; gives the task's id. @throws FleetError where the last one's task is open, and may not overlap */
  async trigger(name: string): Promise<string> {
    return this.#with(name, async (handle) => {
      const { open, overlap } = detailsOf(name, await handle.describe());
      const states = await standingOf(this.#wire, open);
      const last = open.find((id) => !CLOSED_STATES.some((end) => end === states.get(id)));
      if (overlap === 'skip' && last)
        throw new FleetError('conflict', `the last task of ${name} is open: see fleet explain ${last}`);
      // The server may not have seen yet that the last one is closed: then it begins when it does.
      const workflowId = await startedBy(handle, () => handle.trigger(overlap === 'skip' ? 'BUFFER_ONE' : 'ALLOW_ALL'));
      if (workflowId === undefined)
        throw new FleetError(
          'timeout',
          `schedule ${name} has not begun within ${TRIGGER_MS / 1_000}s: see fleet schedule show ${name}`,
        );
      await this.#enqueued(workflowId);
      return scheduledTaskId(workflowId);
    });
  }

  /** Until its task is in the queue, or no worker has put it there in time: one that comes later does. @throws FleetError where it is refused */
  async #enqueued(workflowId: string): Promise<void> {
    const task = scheduledTaskId(workflowId);
    const handle = this.#wire.client.workflow.getHandle(workflowId);
    const end = performance.now() + TRIGGER_MS;
    while (performance.now() < end && !(await standingOf(this.#wire, [task])).has(task)) {
      if ((await handle.describe()).status.name === 'FAILED') {
        const why = await handle.result().catch((error: unknown) => error);
        throw new FleetError(
          'failed',
          why instanceof WorkflowFailedError && why.cause ? why.cause.message : String(why),
        );
      }
      await pause(ASK_MS);
    }
  }

  async #with<T>(name: string, work: (handle: ScheduleHandle) => Promise<T>): Promise<T> {
    try {
      return await work(this.#wire.client.schedule.getHandle(scheduleId(name)));
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      throw notFound(`there is no schedule ${name}`, {
        hint: 'fleet schedule list shows those that there are',
      });
    }
  }
}

/** The workflow that a schedule starts on `trigger`; undefined where it does not in time. */
export async function startedBy(handle: ScheduleHandle, trigger: () => Promise<void>): Promise<string | undefined> {
  const taken = (await handle.describe()).info.numActionsTaken;
  await trigger();
  const end = performance.now() + TRIGGER_MS;
  while (performance.now() < end) {
    const { info } = await handle.describe();
    if (info.numActionsTaken > taken) return info.recentActions.at(-1)?.action.workflow.workflowId;
    await pause(ASK_MS);
  }
  return undefined;
}

function viewOf(name: string, { memo, state, info }: Pick<ScheduleSummary, 'memo' | 'state' | 'info'>): ScheduleView {
  const { when, overlap, title, queue } = { ...NO_MEMO, ...(memo as Partial<Memo> | undefined) };
  const last = info?.recentActions.at(-1);
  return {
    ...{ name, when, overlap, title, queue, paused: state.paused, note: state.note ?? '' },
    next: info?.nextActionTimes[0]?.toISOString() ?? null,
    last: last ? { task: scheduledTaskId(last.action.workflow.workflowId), at: last.takenAt.toISOString() } : null,
  };
}

function detailsOf(name: string, described: ScheduleDescription): ScheduleDetails {
  const { info, action } = described;
  const [given] = (action.args ?? []) as [ScheduledTask];
  return {
    ...viewOf(name, described),
    open: info.runningActions.map(({ workflow }) => scheduledTaskId(workflow.workflowId)),
    ...{
      made: info.numActionsTaken,
      skipped: info.numActionsSkippedOverlap,
      missed: info.numActionsMissedCatchupWindow,
    },
    input: given.input,
  };
}

/** An empty note is no call to the server. */
const NO_NOTE = 'by somebody';
/** For a schedule that somebody else has made. */
const NO_MEMO: Memo = { when: '', overlap: 'skip', title: '', queue: '' };
const machineOf = (machine: string | undefined) => (machine === undefined ? {} : { machine });
const whenText = (when: ScheduleWhen): string =>
  'cron' in when
    ? `${when.cron}${when.timezone ? ` (${when.timezone})` : ''}`
    : `every ${formatDuration(when.everyMs)}`;
