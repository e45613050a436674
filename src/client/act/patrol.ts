import { ScheduleNotFoundError, WorkflowFailedError, type ScheduleHandle } from '@temporalio/client';
import { FleetError, notFound } from '../../domain/error.ts';
import { DEFAULT_QUEUE, PATROL_ID, PATROL_TYPE } from '../../domain/names.ts';
import type { PatrolRound } from '../../domain/produce/patrol.ts';
import { CATCHUP, startedBy } from '../start/schedules.ts';
import type { FleetConnection } from '../connection.ts';
import { isAttached, listWorkers } from '../fleet/workers.ts';

export interface PatrolStatus {
  /** Null: it goes only when somebody asks for a round. */
  everyMs: number | null;
  queue: string;
  /** ISO */
  next: string | null;
  /** What the last one saw and did; null where none has ended yet. */
  last: PatrolRound | null;
  running: boolean;
}

/** A round that waits for a worker is given up on by those who wait for it, and goes on. */
const ROUND_MS = 5 * 60_000;

/**
 * The rounds of the patrol. All are started by one schedule, also those that somebody asks for: it starts none while one is
 * under way. Where it is off the schedule is paused, and remembers what was told.
 */
export class Patrol {
  readonly #wire: FleetConnection;

  constructor(wire: FleetConnection) {
    this.#wire = wire;
  }

  /** From now on; again with other times changes them. */
  async on({ everyMs, queue }: { everyMs: number; queue: string }): Promise<void> {
    await this.#set({ everyMs, queue });
    await this.#handle.unpause();
  }

  /** @throws FleetError (2) where it was never on */
  async off(): Promise<void> {
    await this.#there((handle) => handle.pause('off'));
  }

  async status(): Promise<PatrolStatus | null> {
    try {
      const { spec, state, info, action } = await this.#handle.describe();
      const [interval] = spec.intervals ?? [];
      const last = info.recentActions.toReversed().map(({ action: taken }) => taken.workflow.workflowId);
      return {
        everyMs: state.paused ? null : (interval?.every ?? null),
        queue: action.taskQueue,
        next: state.paused ? null : (info.nextActionTimes[0]?.toISOString() ?? null),
        last: await this.#lastOf(last),
        running: info.runningActions.length > 0,
      };
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) return null;
      throw error;
    }
  }

  /** One round, now; `queue` stays that of later ones. @throws FleetError where one is under way, or nobody carries it on */
  async round(given?: string): Promise<PatrolRound> {
    const status = await this.status();
    const queue = given ?? status?.queue ?? DEFAULT_QUEUE;
    if (status?.running)
      throw new FleetError('conflict', 'a patrol is under way already: fleet patrol status shows what it found');
    if (!(await listWorkers(this.#wire)).some((worker) => isAttached(worker) && worker.queues.includes(queue)))
      throw new FleetError('unavailable', `no attached worker serves queue ${queue}, and the patrol is done by one`, {
        hint: `start one with fleet worker${queue === DEFAULT_QUEUE ? '' : ` --queue ${queue}`}`,
      });
    if (status?.queue !== queue) await this.#set({ everyMs: status?.everyMs ?? DAY_MS, queue });
    const handle = this.#handle;
    const workflowId = await startedBy(handle, () => handle.trigger('SKIP'));
    if (workflowId === undefined)
      throw new FleetError('timeout', 'the patrol did not begin: fleet patrol status shows what is under way');
    try {
      const round = this.#wire.client.workflow.getHandle(workflowId).result();
      return (await this.#wire.client.withDeadline(Date.now() + ROUND_MS, () => round)) as PatrolRound;
    } catch (error) {
      if (error instanceof WorkflowFailedError)
        throw new FleetError('failed', `the patrol failed: ${error.cause?.message ?? error.message}`);
      throw error;
    }
  }

  /** The schedule as it is to be; a new one is paused. */
  async #set({ everyMs, queue }: { everyMs: number; queue: string }): Promise<void> {
    const policies = { overlap: 'SKIP', catchupWindow: CATCHUP } as const;
    const action = {
      type: 'startWorkflow' as const,
      ...{ workflowType: PATROL_TYPE, workflowId: PATROL_ID, taskQueue: queue, args: [] },
    };
    const spec = { intervals: [{ every: everyMs }] };
    try {
      await this.#handle.update((known) => ({ ...known, spec, policies, action }));
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      const state = { paused: true, note: 'off' };
      await this.#wire.client.schedule.create({ scheduleId: PATROL_ID, spec, policies, action, state });
    }
  }

  async #lastOf(workflowIds: readonly string[]): Promise<PatrolRound | null> {
    for (const id of workflowIds) {
      const described = await this.#wire.client.workflow.getHandle(id).describe();
      if (described.status.name === 'COMPLETED')
        return (await this.#wire.client.workflow.getHandle(id).result()) as PatrolRound;
    }
    return null;
  }

  async #there<T>(work: (handle: ScheduleHandle) => Promise<T>): Promise<T> {
    try {
      return await work(this.#handle);
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      throw notFound('there is no patrol: fleet patrol --every 10m begins one');
    }
  }

  get #handle(): ScheduleHandle {
    return this.#wire.client.schedule.getHandle(PATROL_ID);
  }
}

const DAY_MS = 86_400_000;
