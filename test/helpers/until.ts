import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves with the first truthy answer of `check`; throws when there was none within `timeoutMs` (default 10 s). */
export async function until<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 10_000 }: { timeoutMs?: number } = {},
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const answer = await check();
    if (answer) return answer;
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${String(check)}`);
    await sleep(15);
  }
}
