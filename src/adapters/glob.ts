import { createContext, Script } from 'node:vm';
import picomatch from 'picomatch';
import { FleetError } from '../domain/error.ts';
import { alternativesIn } from '../domain/values/glob.ts';
import { threadCpuMs } from './artifacts/pattern-growth.ts';

// `s`: a path may hold a line break, and `**` must match that too.
const OPTIONS = { dot: true, nonegate: true, noextglob: true, flags: 's' } as const;

/** Milliseconds of the processor for all paths that one test is asked for; by the clock, for the part of them that one call may take. */
const TOTAL_MS = 5_000;
const CALL_MS = 2_000;
/** What a call may take without a deadline, counted in the ways to lay its wildcards over the path: some milliseconds. */
const STEPS = 2_000_000;
/** A call that got less than half of the processor is repeated: the machine is busy. */
const TRIES = 4;
/** After so many milliseconds by the clock the processor's are asked for. */
const LOOK_MS = 100;
const KEPT = 2_000;

/** A glob that takes longer on some path than any honest one does. */
export class GlobTooSlow extends FleetError {
  constructor(globs: readonly string[], path: string) {
    const which = globs.length > 3 ? `${globs.slice(0, 3).join(', ')} and ${globs.length - 3} more` : globs.join(', ');
    const where = path.length > 100 ? `${path.slice(0, 100)}…` : path;
    super('invalid-argument', `the glob ${which} takes seconds to match, at ${where}: use fewer wildcards`);
  }
}

/**
 * A test of paths (relative, `/` between, no leading `./`) against globs; dot files count like any other. A glob that
 * ends in `/`, or whose last part has no wildcard, names a file or a folder with everything below: `test`, `a?/src`.
 * A path is also what it literally says: `app/[id]`, `app/(auth)`.
 * The test throws {@link GlobTooSlow} once it has taken 5 s of the processor in all.
 */
export function matches(globs: readonly string[]): (path: string) => boolean {
  const names = globs.map(plain);
  const tests = globs.flatMap(patternsOf).map(compiled);
  const spent = new Spent();
  return (path) => {
    if (names.some((name) => path === name || path.startsWith(`${name}/`))) return true;
    const start = performance.now();
    const found = firstOf(tests, path);
    if (found === 'late' || !spent.allows(performance.now() - start)) throw new GlobTooSlow(globs, path);
    return found;
  };
}

/** The folders that can hold a match, `''` for the top: where a walk has to begin. */
export function roots(globs: readonly string[]): string[] {
  return [...new Set(globs.map((glob) => picomatch.scan(escaped(plain(glob))).base.replaceAll('\\', '')))];
}

function firstOf(tests: readonly Compiled[], path: string): boolean | 'late' {
  for (const { regex, direct } of tests) {
    const found = path.length <= direct ? regex.test(path) : withDeadline(regex, path);
    if (found) return found;
  }
  return false;
}

/** What one test has used of the processor, as far as that can be told: a thread that waits uses nothing. */
class Spent {
  #cpuAt = threadCpuMs();
  #clockMs = 0;
  #leftMs = TOTAL_MS;

  allows(ms: number): boolean {
    this.#clockMs += ms;
    if (this.#clockMs < LOOK_MS) return true;
    const now = threadCpuMs();
    this.#leftMs -= Math.min(this.#clockMs, now - this.#cpuAt);
    [this.#cpuAt, this.#clockMs] = [now, 0];
    return this.#leftMs > 0;
  }
}

interface Compiled {
  regex: RegExp;
  /** The longest path that it may be tested with as it is; a longer one is tested under a deadline. */
  direct: number;
}

const cache = new Map<string, Compiled>();

function compiled(pattern: string): Compiled {
  const known = cache.get(pattern);
  if (known) return known;
  const made = { regex: picomatch.makeRe(pattern, OPTIONS), direct: longestDirect(pattern) };
  if (cache.size >= KEPT) cache.clear();
  cache.set(pattern, made);
  return made;
}

function longestDirect(pattern: string): number {
  const stars = pattern.match(/\*+/g)?.length ?? 0;
  const alternatives = alternativesIn(pattern);
  const steps = (length: number): number => {
    let ways = alternatives;
    for (let star = 1; star <= stars; star += 1) ways *= (length + star) / star;
    return ways;
  };
  if (stars === 0) return alternatives <= STEPS ? Number.POSITIVE_INFINITY : -1;
  let length = 4_096;
  while (length >= 0 && steps(length) > STEPS) length = length > 64 ? length >> 1 : length - 1;
  return length;
}

const script = new Script('test()');
const sandbox: { test?: () => boolean } = createContext(Object.create(null) as object);

/** Node ends a regular expression that a script is in when its time is up. */
function withDeadline(regex: RegExp, path: string): boolean | 'late' {
  sandbox.test = () => regex.test(path);
  for (let left = TRIES; ; left -= 1) {
    const [start, cpu] = [performance.now(), threadCpuMs()];
    try {
      return script.runInContext(sandbox, { timeout: CALL_MS }) as boolean;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      if (left === 1 || threadCpuMs() - cpu > (performance.now() - start) / 2) return 'late';
    }
  }
}

function patternsOf(glob: string): string[] {
  const name = plain(glob);
  const pattern = escaped(name);
  const wild = /[*?[]/.test(name.slice(name.lastIndexOf('/') + 1));
  return wild && !glob.endsWith('/') ? [pattern] : [pattern, `${pattern}/**`];
}

const plain = (glob: string): string => glob.replace(/^(\.\/)+/, '').replace(/\/+$/, '');

/** Round brackets and bars would be read as those of a regular expression. */
const escaped = (name: string): string => name.replace(/[()|]/g, '\\$&');
