const START = Date.UTC(2026, 0, 1);

export interface Timer {
  cancel(): void;
}
type Entry = { at: number; order: number; run: (() => unknown) | undefined };

/** Virtual time: events run one after the other, in the order of their times, and time passes only between them. */
export class Clock {
  now = START;
  events = 0;
  #order = 0;
  readonly #heap: Entry[] = [];

  /** Milliseconds since the start. */
  get elapsed(): number {
    return this.now - START;
  }

  after(ms: number, run: () => unknown): Timer {
    const entry: Entry = { at: this.now + Math.max(0, Math.round(ms)), order: this.#order++, run };
    this.#push(entry);
    return { cancel: () => (entry.run = undefined) };
  }

  /** Until nothing is left to happen; false where it did not come to that within the bounds. */
  async run(most: { events: number; ms: number }): Promise<boolean> {
    for (let entry = this.#pop(); entry; entry = this.#pop()) {
      if (!entry.run) continue;
      this.now = entry.at;
      if (++this.events > most.events || this.elapsed > most.ms) return false;
      const under = entry.run();
      if (under instanceof Promise) await under;
    }
    return true;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let i = heap.length;
    heap.push(entry);
    for (let up = (i - 1) >> 1; i > 0 && before(entry, heap[up]!); i = up, up = (i - 1) >> 1) heap[i] = heap[up]!;
    heap[i] = entry;
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const [top] = heap;
    const last = heap.pop();
    if (!top || !last || heap.length === 0) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, last)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
    return top;
  }
}

const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

const RealDate = Date;

/** `Date` shows the virtual time until it is disposed of. */
export function virtualDate(clock: Clock): Disposable {
  class VirtualDate extends RealDate {
    constructor(...args: [] | [number | string]) {
      super(args.length === 0 ? clock.now : args[0]);
    }
    static override now(): number {
      return clock.now;
    }
  }
  globalThis.Date = VirtualDate as DateConstructor;
  return { [Symbol.dispose]: () => void (globalThis.Date = RealDate) };
}
