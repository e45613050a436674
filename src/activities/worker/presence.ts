/** Whether the worker's record has its `workerHeartbeat` here: else the worker attaches again. */
export class Presence {
  #attending = 0;

  get attended(): boolean {
    return this.#attending > 0;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#attending += 1;
    try {
      return await work();
    } finally {
      this.#attending -= 1;
    }
  }
}
