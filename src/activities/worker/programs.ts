import { ApplicationFailure } from '@temporalio/activity';
import { setTimeout as pause } from 'node:timers/promises';
import { STOPPED } from '../../domain/worker/worker.ts';
import type { Holds } from './claim-holds.ts';

const LOOK_MS = 500;

interface Live {
  kind: 'agent' | 'command';
  stop: AbortController;
  ended: Promise<unknown>;
}

/** What runs as a child of this worker: setup commands, trials, reviewers. Agents at work are the keeper's. */
export class Programs {
  readonly #holds: Pick<Holds, 'stopsAgents'>;
  readonly #live = new Set<Live>();

  constructor(holds: Pick<Holds, 'stopsAgents'>) {
    this.#holds = holds;
  }

  /** Those that are agents: reviewers. */
  get agents(): number {
    return [...this.#live].filter(({ kind }) => kind === 'agent').length;
  }

  /**
   * Does what runs a program, and ends it where a person stops the fleet. One that was ended says nothing about the work.
   * @throws the signal's reason once that is aborted, `stopped` where a person ended it or it may not start
   */
  async run<T>(kind: Live['kind'], signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    this.mayGoOn();
    const stop = new AbortController();
    const ended = work(AbortSignal.any([signal, stop.signal]));
    const live = { kind, stop, ended };
    this.#live.add(live);
    const [end] = await Promise.allSettled([ended]);
    this.#live.delete(live);
    signal.throwIfAborted();
    if (stop.signal.aborted) throw stopped();
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  }

  /** Resolves once nothing of them lives. */
  async end(): Promise<void> {
    for (const { stop } of this.#live) stop.abort();
    await Promise.allSettled([...this.#live].map(({ ended }) => ended));
  }

  /** @throws `stopped` while a person has stopped the fleet */
  mayGoOn(): void {
    if (this.#holds.stopsAgents) throw stopped();
  }

  /** Before results leave this worker: for as long as a person has stopped the fleet. */
  async resumed(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (this.#holds.stopsAgents) {
      await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
      signal.throwIfAborted();
    }
  }
}

const stopped = (): ApplicationFailure =>
  ApplicationFailure.nonRetryable('a person stopped what this worker had started for it', STOPPED);

export const isStopped = (error: unknown): boolean => error instanceof ApplicationFailure && error.type === STOPPED;
