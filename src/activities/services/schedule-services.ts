import type { PatrolMemory, PatrolRound } from '../../domain/produce/patrol.ts';
import type { TaskInput } from '../../domain/task/schema.ts';

/** What schedules need done by any worker: local activities of the one that carries the workflow on. */
export interface ScheduleServices {
  /** Puts a schedule's task into the queue, once for each id. Gives why it is refused, and alerts; null where it is there. @throws where it may go well in a while */
  enqueueScheduled(order: { id: string; input: TaskInput }): Promise<string | null>;
  /** One look at the queue, and what follows from it. */
  patrol(before: PatrolMemory | null): Promise<PatrolRound>;
}
