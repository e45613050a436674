/** Wakes whoever waits; one that rings before is heard by the next wait. */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Until it rings, for `ms` at most, or until the signal. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, ms);
        function done(): void {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          resolve();
        }
        this.#wake = done;
        signal.addEventListener('abort', done);
      });
    }
    this.#wake = undefined;
    this.#rung = false;
  }
}
