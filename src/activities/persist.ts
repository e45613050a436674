import { isDiskFull, isDiskTrouble } from '../adapters/space.ts';
import type { RunRef } from '../domain/run.ts';
import type { StopReason } from '../domain/outcome.ts';
import type { Deps } from './context.ts';

/** Room may come back: other agents are stopped and finished tasks cleaned meanwhile. */
const PATIENCE_MS = 15 * 60_000;

/** The disk of a worker's home as its activities need it; the disk guard of the worker keeps it. */
export interface Disk {
  /** Gives the reserve to the next write. False where it is gone already. */
  giveUpReserve(): boolean;
  /** Resolves when a write that failed may be tried again; rejects when the signal aborts. */
  room(signal?: AbortSignal): Promise<void>;
  /** Whether writes may have failed since then, in milliseconds of `performance.now()`. */
  wasFullSince(at: number): Promise<boolean>;
  /** What a run's work folder takes beyond its limit, as a sentence; undefined where it keeps it. */
  excess(ref: RunRef, limitBytes: number): Promise<string | undefined>;
  /** Why the guard stopped a run, as a sentence. */
  why(runId: string, stopped: StopReason): string | undefined;
}

/**
 * Writes what must be on the disk before anyone hears of it. Where the disk is full, the reserve is given up and the
 * write is repeated at once; after that, and where the disk is read-only, as soon as there is room again.
 */
export async function persist<T>(deps: Pick<Deps, 'disk'>, write: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isDiskTrouble(error) || performance.now() > until) throw error;
      if (!isDiskFull(error) || !deps.disk.giveUpReserve()) await deps.disk.room(signal);
    }
  }
}

/** For what is tried again anyway. */
export function unlessDisk(error: unknown): void {
  if (!isDiskTrouble(error)) throw error;
}
