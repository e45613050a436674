/** CPU share of one core under which a process tree counts as idle. */
const IDLE_SHARE = 0.01;

export interface LifeSign {
  /** Milliseconds on any steady clock. */
  now: number;
  /** Bytes that the agent has written so far. */
  bytes: number;
  /** CPU milliseconds of its process tree so far; undefined where that cannot be told. */
  cpuMs: number | undefined;
}

/**
 * Whether an agent has been silent: no output and under 1 % of a core, over the whole window. `quiet` is not yet
 * stalled: the caller looks for file changes first, and tells of them by `stirred`. A silent build that burns CPU is
 * active; where CPU time cannot be told, the agent counts as active: unknown is never shot.
 */
export class IdleClock {
  readonly #windowMs: number;
  readonly #signs: LifeSign[] = [];
  #since: number;

  constructor(windowMs: number, now: number) {
    this.#windowMs = windowMs;
    this.#since = now;
  }

  /** The start of the silence so far, on the caller's clock. */
  get since(): number {
    return this.#since;
  }

  sample(sign: LifeSign): 'active' | 'quiet' {
    const last = this.#signs.at(-1);
    if (sign.cpuMs === undefined || (last && sign.bytes !== last.bytes)) this.#since = sign.now;
    this.#signs.push(sign);
    while (this.#signs.length > 2 && (this.#signs[1]?.now ?? 0) <= sign.now - this.#windowMs) this.#signs.shift();
    const first = this.#signs[0] ?? sign;
    const spanMs = sign.now - first.now;
    if (sign.now - this.#since < this.#windowMs || spanMs < this.#windowMs) return 'active';
    // A tree whose processes came and went can only have used more than what is left to count.
    const used = Math.abs((sign.cpuMs ?? 0) - (first.cpuMs ?? 0));
    return used / spanMs >= IDLE_SHARE ? 'active' : 'quiet';
  }

  /** A file changed at `now`: the silence starts over. */
  stirred(now: number): void {
    this.#since = Math.max(this.#since, now);
  }
}
