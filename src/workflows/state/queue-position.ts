import { toMs } from '../../domain/values/duration.ts';
import { claimQueue } from '../../domain/names.ts';
import type { RunView } from '../../domain/view/task-view.ts';
import type { Task } from '../../domain/task/schema.ts';
import { urgencyOf } from '../../domain/scheduling/priority-aging.ts';

/** A task's place among the claims of its queue. */
export class QueuePosition {
  /** Where it waits as long as no rule leads elsewhere. */
  readonly unpinned: string;
  /** A claim queue to try first. */
  home: string | undefined;
  /** What it waits by has changed. */
  moved = false;
  /** Milliseconds of the workflow's clock before which there is no next run. */
  readyAt = 0;
  #since: number | undefined;

  constructor(unpinned: string) {
    this.unpinned = unpinned;
  }

  claimed(): void {
    this.#since = this.home = undefined;
  }

  /** By its priority, and how long it has waited for a slot. */
  urgency(priority: number, { ageing }: Task): { key: number; untilMs: number | null } {
    this.#since ??= Date.now();
    return urgencyOf({ priority, ageingMs: toMs(ageing), waitedMs: Date.now() - this.#since });
  }

  /** The next run had best be where the work of that one is. */
  preferWorkerOf({ queue }: Task, run: RunView | undefined): void {
    if (run?.saved && !this.unpinned.includes('@'))
      this.home = claimQueue({ queue, machine: run.machine, coder: run.coder });
  }
}
