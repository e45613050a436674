import { appendFileSync } from 'node:fs';
import type { RunView } from '../../src/domain/view/task-view.ts';
import type { TaskState } from '../../src/domain/task/state.ts';
import type { Life } from '../helpers/journal.ts';

/** How an operation of a client ended: `unknown` where the answer was lost, and the server may or may not have done it. */
export type Answer = 'ok' | 'refused' | 'unknown';

/** One thing that was done to the fleet, or seen of it. Times are seconds since boot, those of sleep included. */
export type Entry = { at: number } & (
  | {
      kind: 'operation';
      what: 'enqueue' | 'cancel' | 'retry' | 'give-up';
      id: string;
      answer: Answer;
      message?: string;
    }
  /** `site`: the worker's number; null for the server. */
  | { kind: 'fault'; what: string; site: number | null }
  /** After it, what slept goes on. */
  | { kind: 'wake'; site: number }
  | { kind: 'seen'; id: string; state: TaskState }
  /** More than one agent of one task at one instant, as this host sees it. */
  | { kind: 'together'; id: string; runIds: string[] }
  | { kind: 'life'; life: Life }
  /** A branch, with the run that made what is on it. */
  | { kind: 'delivered'; id: string; commit: string; by: string }
  | { kind: 'final'; id: string; state: TaskState; used: number; runs: Pick<RunView, 'runId' | 'reason' | 'counts'>[] }
  /** Still there after everything was healed and drained. */
  | { kind: 'stray'; what: string }
);

type Distributed<T> = T extends unknown ? Omit<T, 'at'> : never;
export type Event = Distributed<Entry>;

/** Every entry goes to the file before anything else happens. */
export class History {
  readonly entries: Entry[] = [];
  readonly #file: string;
  readonly #clock: () => number;

  constructor(file: string, clock: () => number) {
    [this.#file, this.#clock] = [file, clock];
  }

  add(event: Event): void {
    const entry = { at: this.#clock(), ...event } as Entry;
    this.entries.push(entry);
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }
}
