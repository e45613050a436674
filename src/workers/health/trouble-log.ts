/** A worker's log for what is tried again and again: what goes wrong at one thing is said once, until it changes or goes well. */
export class TroubleLog {
  readonly say: (line: string) => void;
  readonly #said = new Map<string, string>();

  constructor(say: (line: string) => void) {
    this.say = say;
  }

  /** `what`: the thing and what failed at it, e.g. `run 1-a of task x cannot be tended`. */
  failed(what: string, error: unknown): void {
    const why = causeOf(error);
    if (this.#said.get(what) === why) return;
    this.#said.set(what, why);
    this.say(`${what}: ${why}; it is tried again, and not said again`);
  }

  worked(what: string): void {
    if (this.#said.delete(what)) this.say(`${what}: no longer`);
  }
}

/** `Failed to describe workflow: deadline exceeded`: the server's own words stand in the cause. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  const { details, message: inner } = (cause ?? {}) as { details?: unknown; message?: unknown };
  const why = [details, inner].find((each) => typeof each === 'string' && each !== '');
  return typeof why === 'string' && why !== message ? `${message}: ${why}` : message;
}
