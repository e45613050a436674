/** Opens once; whoever waits for it then goes on. */
export class Latch {
  isOpen = false;
  readonly #waiting = new Set<() => void>();

  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    for (const go of [...this.#waiting]) go();
    this.#waiting.clear();
  }
  /** Undone by the answer. */
  wait(go: () => void): () => void {
    if (this.isOpen) go();
    else this.#waiting.add(go);
    return () => this.#waiting.delete(go);
  }
}
