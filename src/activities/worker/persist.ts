import { isDiskFull, isDiskTrouble } from '../../adapters/disk/free-space.ts';
import type { Deps } from './context.ts';

/** Room may come back: other agents are stopped and finished tasks cleaned meanwhile. */
const PATIENCE_MS = 15 * 60_000;

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
