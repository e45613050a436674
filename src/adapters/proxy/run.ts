import { createHash, timingSafeEqual } from 'node:crypto';
import {
  addExchange,
  NO_WIRE,
  type WireExchange,
  type WireLive,
  type WireResult,
} from '../../domain/agent/model-traffic.ts';
import { Redaction } from '../../domain/secrets/redaction.ts';
import type { Meter } from './meter.ts';
import type { OpenInput } from './protocol.ts';
import { readWire, WireFile } from './wire-file.ts';

/** Exchanges of a run at one time: an agent needs a few. */
export const EXCHANGES_MAX = 200;
const RESULTS_MAX = 50_000;

/** One run's way to its model. */
export class OpenRun {
  readonly order: OpenInput;
  readonly #file: WireFile;
  readonly #underWay = new Map<Meter, { abort: AbortController; over: Promise<void> }>();
  readonly #told = new Set<string>();
  #sum = NO_WIRE;
  /** Exchanges that have ended. */
  #answered = 0;
  closed = false;

  /** `again`: by a proxy that was started anew. */
  constructor(order: OpenInput, again: boolean) {
    this.order = order;
    this.#file = new WireFile(order.wireFile, new Redaction(order.secrets ?? {}));
    for (const exchange of readWire(order.wireFile)?.exchanges ?? []) {
      this.#sum = addExchange(this.#sum, exchange);
      this.#fresh(exchange.results);
    }
    const at = new Date().toISOString();
    const { api, url } = order.upstream;
    this.#file.append(again ? { type: 'restarted', at } : { type: 'opened', at, api, host: new URL(url).host });
  }

  /** In constant time, whatever was given. */
  takes(key: string): boolean {
    const given = createHash('sha256').update(key).digest();
    const right = Buffer.from(this.order.keySha256, 'hex');
    return given.length === right.length && timingSafeEqual(given, right);
  }

  get full(): boolean {
    return this.#underWay.size >= EXCHANGES_MAX;
  }

  begin(meter: Meter): { signal: AbortSignal; end(cut: boolean): Promise<void> } {
    const abort = new AbortController();
    let over!: () => void;
    this.#underWay.set(meter, { abort, over: new Promise((resolve) => (over = resolve)) });
    let ending: Promise<void> | undefined;
    return {
      signal: abort.signal,
      end: (cut) =>
        (ending ??= meter
          .end((results) => this.#fresh(results), cut)
          .then((exchange) => this.#keep(exchange))
          .finally(() => {
            this.#answered += meter.answered;
            this.#underWay.delete(meter);
            over();
          })),
    };
  }

  live(): WireLive {
    const meters = [...this.#underWay.keys()];
    const now = performance.now();
    const waiting = meters.filter(({ waits }) => waits);
    return {
      answered: meters.reduce((sum, { answered }) => sum + answered, this.#answered),
      open: waiting.length,
      quietMs: waiting.length > 0 ? Math.round(Math.min(...waiting.map(({ lastByte }) => now - lastByte))) : 0,
      sum: this.#sum,
    };
  }

  /** Resolves when nothing of it is under way. */
  async close(): Promise<void> {
    this.closed = true;
    const left = [...this.#underWay.values()];
    for (const { abort } of left) abort.abort();
    await Promise.all(left.map(({ over }) => over));
  }

  #keep(exchange: WireExchange): void {
    this.#sum = addExchange(this.#sum, exchange);
    this.#file.append(exchange);
  }

  /** Each request tells the whole conversation once more. */
  #fresh(results: WireResult[]): WireResult[] {
    return results.filter(({ id, sha256 }) => {
      const key = `${id ?? ''} ${sha256}`;
      if (this.#told.has(key) || this.#told.size >= RESULTS_MAX) return false;
      this.#told.add(key);
      return true;
    });
  }
}
