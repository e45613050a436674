import { readFileSync } from 'node:fs';

/** Characters of the longest text, and of the first. */
export const LONGEST = 2_000;
const SHORTEST = 8;
const STEP = 1.15;
/** CPU milliseconds: less tells nothing of growth, and an expression that takes more on the longest text is refused. */
const TELLING_MS = 20;
const MOST_MS = 2_000;
/** Of all texts together: what is left then is not looked at, as every check has a deadline as well. */
const BUDGET_MS = 4_000;

/**
 * Whether matching takes seconds on a text of the longest length, by how it grows: by the CPU time of each length from the last. An
 * exponential one is known while it still ends. `cost` matches one text of that length and gives its CPU milliseconds.
 */
export function growsBeyond(texts: readonly ((length: number) => number)[]): boolean {
  let spent = 0;
  for (const cost of texts) {
    let before = { ms: 0, length: 1 };
    for (let length = SHORTEST; length <= LONGEST && spent < BUDGET_MS; length = next(length)) {
      let now = cost(length);
      // Once may be the engine's own: it compiles, or collects.
      if (now > TELLING_MS) now = Math.min(now, cost(length));
      spent += now;
      if (now > TELLING_MS && expected({ ms: now, length }, before) > MOST_MS) return true;
      before = { ms: now, length };
    }
  }
  return false;
}

const next = (length: number): number =>
  length === LONGEST ? LONGEST + 1 : Math.min(LONGEST, Math.ceil(length * STEP));

/** On the longest text, where it goes on growing with the same power of the length. */
function expected(now: Measured, before: Measured): number {
  const grown = now.ms / Math.max(before.ms, TELLING_MS / 1_000);
  const power = Math.log(grown) / Math.log(now.length / before.length);
  return now.ms * (LONGEST / now.length) ** Math.max(0, power);
}

interface Measured {
  ms: number;
  length: number;
}

/** CPU milliseconds of this thread alone, where the system tells; else of the process. */
export function threadCpuMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e3;
  }
}
