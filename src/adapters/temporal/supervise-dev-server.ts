import { setTimeout as pause } from 'node:timers/promises';
import { ownDevServer, startDevServer, type DevServer, type DevServerOptions } from './dev-server.ts';

const LOOK_MS = 250;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** One that lived for so long is started again at once. */
const STEADY_MS = 10_000;
/** Starts that failed or did not last, before the person hears that it goes on like this. */
const PATTERN = 4;

/**
 * Starts the dev server again whenever its process is gone, on the same ports and file: at once, a second later where it
 * does not live long, ever later up to 30 seconds where it does not even start, and without end, as whatever is wrong may
 * be mended while nobody looks. `say` hears one sentence for each change: gone, back, and that it does not stay.
 */
export function superviseDevServer(
  first: DevServer,
  { say, ...options }: DevServerOptions & { say: (line: string) => void },
): { stop(): Promise<void> } {
  const over = new AbortController();
  const { signal } = over;
  const [port, uiPort] = [first.address, first.uiAddress].map((address) => Number(address?.split(':').at(-1)));
  const again = { ...options, port: port!, ...(first.uiAddress ? { uiPort: uiPort! } : { headless: true }) };

  const watch = async (): Promise<void> => {
    let upSince = -Infinity;
    let waitMs = 0;
    let inARow = 0;
    for (;;) {
      while (await ownDevServer(options.home)) await pause(LOOK_MS, undefined, { signal });
      signal.throwIfAborted();
      const steady = performance.now() - upSince > STEADY_MS;
      inARow = steady ? 1 : inARow + 1;
      if (inARow < PATTERN) say("Temporal's dev server is gone: starting it again; agents run on");
      if (inARow === PATTERN)
        say(
          `Temporal's dev server does not stay up, and is tried again and again: ${options.home}/temporal.log says more`,
        );
      if (!steady) await pause(waitMs, undefined, { signal });
      upSince = Infinity;
      try {
        await startDevServer(again);
        upSince = performance.now();
        waitMs = FIRST_WAIT_MS;
        if (inARow < PATTERN) say("Temporal's dev server is back");
      } catch (error) {
        waitMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, 2 * waitMs));
        if (inARow < PATTERN) say(messageOf(error));
      }
    }
  };
  const watching = watch().catch((error: unknown) => {
    if (!signal.aborted) say(`Temporal's dev server is no longer watched: ${messageOf(error)}`);
  });
  return {
    stop: async () => {
      over.abort();
      await watching;
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
