/** Why a worker takes no new work, by cause: an order, too little disk, a process that cannot be killed… Runs go on. */
export class Holds {
  readonly #reasons = new Map<string, string>();
  #changed: () => void = () => {};

  /** Called after each change. */
  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  /** One sentence, or null where this cause holds nothing any more. */
  set(cause: string, reason: string | null): void {
    if ((this.#reasons.get(cause) ?? null) === reason) return;
    if (reason === null) this.#reasons.delete(cause);
    else this.#reasons.set(cause, reason);
    this.#changed();
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
}
