/** CPU share of one core under which a silent process tree counts as idle. */
const IDLE_SHARE = 0.01;
/** The same of one that prints the same again and again: a spinner and its loop take some. */
const REPEATING_SHARE = 0.1;
/** CPU milliseconds that a line which is not new may have cost: a shell starts a program for it. */
const LINE_MS = 5;

export interface LifeSign {
  /** Milliseconds on any steady clock. */
  now: number;
  /** A number that changes with whatever is new: a line of text, a tool call, a part of an answer of its model. */
  news: number;
  /** Lines so far that the agent had printed before. */
  repeated: number;
  /** CPU milliseconds of its process tree so far; undefined where that cannot be told. */
  cpuMs: number | undefined;
}

/**
 * Whether an agent makes progress: something new, or CPU time beyond what it takes to print the same again, in the whole window.
 * `quiet` is not yet stalled: the caller looks for file changes first, and tells of them by `stirred`. A silent build that burns
 * CPU is active; where CPU time cannot be told, the agent counts as active: unknown is never shot.
 */
export class IdleClock {
  readonly #windowMs: number;
  readonly #signs: LifeSign[] = [];
  #since: number;

  constructor(windowMs: number, now: number) {
    this.#windowMs = windowMs;
    this.#since = now;
  }

  /** The start of the time without progress so far, on the caller's clock. */
  get since(): number {
    return this.#since;
  }

  sample(sign: LifeSign): 'active' | 'quiet' {
    const last = this.#signs.at(-1);
    if (sign.cpuMs === undefined || (last && sign.news !== last.news)) this.#since = sign.now;
    this.#signs.push(sign);
    while (this.#signs.length > 2 && (this.#signs[1]?.now ?? 0) <= sign.now - this.#windowMs) this.#signs.shift();
    const first = this.#signs[0] ?? sign;
    const spanMs = sign.now - first.now;
    if (sign.now - this.#since < this.#windowMs || spanMs < this.#windowMs) return 'active';
    const lines = sign.repeated - first.repeated;
    // A tree whose processes came and went can only have used more than what is left to count.
    const used = Math.abs((sign.cpuMs ?? 0) - (first.cpuMs ?? 0)) - lines * LINE_MS;
    return used / spanMs >= (lines > 0 ? REPEATING_SHARE : IDLE_SHARE) ? 'active' : 'quiet';
  }

  /** A file changed at `now`: the time without progress starts over. */
  stirred(now: number): void {
    this.#since = Math.max(this.#since, now);
  }
}
