import { setTimeout as sleep } from 'node:timers/promises';

type Truthy<T> = Exclude<T, false | null | undefined | 0 | ''>;

/** Resolves with the first truthy answer of `check`; throws when there was none within `timeoutMs` (default 90 s). */
export async function until<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 90_000 }: { timeoutMs?: number } = {},
): Promise<Truthy<T>> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const answer = await check();
    if (answer) return answer as Truthy<T>;
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${String(check)}`);
    await sleep(15);
  }
}
