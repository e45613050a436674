import type { RunRef, Verified } from '../../src/domain/view/task-view.ts';
import type { AgentOutcome } from '../../src/domain/run/outcome.ts';
import type { ActivityTask } from './activity-task.ts';
import { ActivityError, Cancelled } from './failures.ts';
import { Latch } from './latch.ts';

/** What an activity waits for: some milliseconds, or the first of several latches. */
export type Work<T = unknown> = Generator<number | readonly Latch[], T, void>;

/** A run as its worker keeps it on disk. */
export interface HeldRun extends RunRef {
  n: number;
  prepared: boolean;
  retired: boolean;
  outcome: AgentOutcome | undefined;
  verified: Verified | undefined;
  /** Runs before this one that met what may be their workers' own. */
  met: number;
}

/** One attempt of an activity, at work in one process. */
export class Attempt {
  cancelled: 'task' | 'gone' | 'shutdown' | undefined;
  readonly onCancel = new Latch();
  readonly number: number;

  readonly task: ActivityTask;

  constructor(task: ActivityTask) {
    this.task = task;
    this.number = task.attempt;
  }
  cancel(why: NonNullable<Attempt['cancelled']>): void {
    this.cancelled ??= why;
    this.onCancel.open();
  }
  throwIfCancelled(): void {
    if (this.cancelled === 'shutdown') throw new ActivityError('WorkerShutdown');
    if (this.cancelled) throw new Cancelled();
  }
}
