/** Every choice of one simulated schedule comes from here: the same seed makes the same schedule. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
    for (let i = 0; i < 4; i++) this.next();
  }

  /** [0, 1), by mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  }
  chance(p: number): boolean {
    return this.next() < p;
  }
  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }
  /** The same, with every order of magnitude alike. */
  spread(low: number, high: number): number {
    return Math.round(low * (high / low) ** this.next());
  }
  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)] as T;
  }
  /** A key of a table of weights. */
  weighted<K extends string>(table: Readonly<Record<K, number>>): K {
    const entries = Object.entries<number>(table) as [K, number][];
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) if ((rest -= weight) < 0) return key;
    return this.pick(entries)[0];
  }
}
