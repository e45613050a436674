import { setTimeout as sleep } from 'node:timers/promises';

type Truthy<T> = Exclude<T, false | null | undefined | 0 | ''>;

const FIRST_MS = 15;
const MOST_MS = 100;

/**
 * Resolves with the first truthy answer of `check`; throws when there was none within `timeoutMs` (default 90 s). It asks less often
 * as time goes by: what is asked is mostly a server and a worker, on the machine that has to bring about the answer.
 */
export async function until<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 90_000 }: { timeoutMs?: number } = {},
): Promise<Truthy<T>> {
  const end = performance.now() + timeoutMs;
  for (let pauseMs = FIRST_MS; ; pauseMs = Math.min(MOST_MS, pauseMs * 1.5)) {
    const answer = await check();
    if (answer) return answer as Truthy<T>;
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${String(check)}`);
    await sleep(pauseMs);
  }
}
