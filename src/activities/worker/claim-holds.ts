import type { FleetOrder } from '../../domain/worker/worker.ts';

/** Causes that a person set, the worker's own leaving, or what another worker tells of: nobody needs to be told of them. */
const TOLD = new Set(['fleet order', 'worker order', 'leaving', 'rollback elsewhere']);

/** Why a worker takes no new work, by cause: an order, too little disk, a process that cannot be killed… Runs go on. */
export class Holds {
  /** The strongest order that stands. */
  order: FleetOrder | null = null;
  /** See `WorkerView`. */
  stopped: { at: string; agents: number } | null = null;
  readonly #reasons = new Map<string, string>();
  readonly #listeners: ((cause: string) => void)[] = [];

  /** Called after each change, with its cause. */
  onChange(listener: (cause: string) => void): void {
    this.#listeners.push(listener);
  }

  /** One sentence, or null where this cause holds nothing any more. */
  set(cause: string, reason: string | null): void {
    if ((this.#reasons.get(cause) ?? null) === reason) return;
    if (reason === null) this.#reasons.delete(cause);
    else this.#reasons.set(cause, reason);
    for (const listener of this.#listeners) listener(cause);
  }

  /** What somebody should be told of a cause: undefined where they know, or it holds nothing. */
  trouble(cause: string): string | undefined {
    return TOLD.has(cause) ? undefined : this.#reasons.get(cause);
  }

  get causes(): string[] {
    return [...this.#reasons.keys()];
  }

  has(cause: string): boolean {
    return this.#reasons.has(cause);
  }

  get reasons(): string[] {
    return [...this.#reasons.values()];
  }

  get open(): boolean {
    return this.#reasons.size === 0;
  }

  /** No agent may live, nor be started. */
  get stopsAgents(): boolean {
    return this.order?.mode === 'stop';
  }
}
