import { existsSync } from 'node:fs';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { WireLive } from '../../domain/agent/model-traffic.ts';
import type { Deps } from '../worker/context.ts';
import { wirePlace } from './model-calls.ts';

const EVERY_MS = 2_000;

/** Knows how a run's model calls stand, some seconds late at most; what it heard last stays while the proxy is away. */
export class WireWatch {
  live: WireLive | undefined;
  readonly #deps: Pick<Deps, 'proxy' | 'home'>;
  readonly #ref: RunRef;
  readonly #everyMs: number;
  #asking = false;
  #nextAt = 0;

  /** `idleMs`: the limit of silence, which is not to be missed by much. */
  constructor(deps: Pick<Deps, 'proxy' | 'home'>, ref: RunRef, idleMs: number) {
    [this.#deps, this.#ref] = [deps, ref];
    this.#everyMs = Math.min(EVERY_MS, Math.max(250, idleMs / 10));
  }

  /** Asks where it is time to, and waits for nothing. */
  tick(): void {
    const place = wirePlace(this.#deps, this.#ref);
    if (this.#asking || performance.now() < this.#nextAt || !existsSync(place.file)) return;
    this.#asking = true;
    this.#deps.proxy
      .status(place)
      .then((live) => (this.live = live ?? this.live))
      .catch(() => undefined)
      .finally(() => {
        this.#asking = false;
        this.#nextAt = performance.now() + this.#everyMs;
      });
  }
}
