import type { TaskInput } from '../task/schema.ts';

/** When a task is put into the queue again and again. */
export type ScheduleWhen = { cron: string; timezone: string | null } | { everyMs: number };

export interface ScheduleInput {
  name: string;
  when: ScheduleWhen;
  /** `skip`: nothing new while the last one's task is open. */
  overlap: 'skip' | 'allow';
  input: TaskInput;
}

/** What the schedule starts its workflow with. */
export interface ScheduledTask {
  overlap: ScheduleInput['overlap'];
  /** As a task's schema takes it: checked again each time. */
  input: TaskInput;
}

export interface ScheduleView {
  name: string;
  /** `0 2 * * * (Europe/Berlin)`, `every 30m` */
  when: string;
  overlap: ScheduleInput['overlap'];
  title: string;
  queue: string;
  paused: boolean;
  note: string;
  /** ISO; null: it does not fire any more. */
  next: string | null;
  /** What it made last. */
  last: { task: string; at: string } | null;
}

export interface ScheduleDetails extends ScheduleView {
  /** Its workflows that are under way, by the task that each waits for. */
  open: string[];
  made: number;
  /** Not made, as the last one's task was open. */
  skipped: number;
  /** Not made, as the server was away then. */
  missed: number;
  input: TaskInput;
}
