import { setTimeout as pause } from 'node:timers/promises';
import { ownDevServer, startDevServer, type DevServer, type DevServerOptions } from './dev-server.ts';

const LOOK_MS = 250;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** One that lived for so long has not failed at its start. */
const STEADY_MS = 60_000;
/** Starts that failed, or did not last, before the person hears that it goes on like this. */
const PATTERN = 3;

/**
 * Starts the dev server again whenever its process is gone, on the same ports and file: at once, then ever later up to 30
 * seconds, and without end, as whatever is wrong may be mended while nobody looks. `say` hears one sentence for each
 * change: gone, back, and that it does not stay.
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
    let startedAt = -Infinity;
    let failures = 0;
    for (;;) {
      while (await ownDevServer(options.home)) await pause(LOOK_MS, undefined, { signal });
      signal.throwIfAborted();
      failures = performance.now() - startedAt > STEADY_MS ? 0 : failures + 1;
      if (failures < PATTERN) say("Temporal's dev server is gone: starting it again; agents run on");
      await pause(failures && Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)), undefined, { signal });
      startedAt = performance.now();
      try {
        await startDevServer(again);
        if (failures < PATTERN) say("Temporal's dev server is back");
      } catch (error) {
        if (failures < PATTERN) say(messageOf(error));
      }
      if (failures === PATTERN)
        say(
          `Temporal's dev server does not stay up: it is tried again ever later, up to every 30s; ${options.home}/temporal.log says more`,
        );
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
