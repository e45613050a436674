import { setTimeout as pause } from 'node:timers/promises';
import type { RunningWorker } from '../workers/worker.ts';
import { attend, type Attendance } from './attend.ts';
import type { Cli } from './command.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** One that worked for so long has not failed at its start. */
const STEADY_MS = 60_000;

/**
 * Attaches a worker and stays with it until it is stopped. Where it breaks, or finds that its server is another one now,
 * it attaches anew, however long that takes; the keeper holds its agents meanwhile. Only the first start may fail.
 */
export async function stayAttached(
  cli: Cli,
  start: () => Promise<RunningWorker>,
  given: Attendance & { attached(worker: RunningWorker): void },
): Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  using _ = cli.onSignal(() => stopped.abort());
  let running = await start();
  if (!signal.aborted) given.attached(running);
  for (let waitMs = FIRST_WAIT_MS; ;) {
    if (signal.aborted) return running.stop('leave-agents');
    const since = performance.now();
    const broke = await attend(cli, running, given);
    if (broke === undefined) return;
    cli.note(`${messageOf(broke)}: attaching again`);
    if (performance.now() - since > STEADY_MS) waitMs = FIRST_WAIT_MS;
    for (let next: RunningWorker | undefined; !next; waitMs = Math.min(LONGEST_WAIT_MS, 2 * waitMs)) {
      await pause(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      next = await start().catch((error: unknown) => {
        cli.note(messageOf(error));
        return undefined;
      });
      running = next ?? running;
    }
    cli.note(`worker ${running.name} is attached again`);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
