interface More {
  hint?: string;
  passing?: boolean;
  cause?: unknown;
}

/**
 * An error for a person: one sentence, no stack. The CLI prints it on stderr and exits with `exitCode`:
 * 2 for bad use (a wrong value, a port in use), 1 for a bad outcome (no server, no right).
 */
export class FleetError extends Error {
  override readonly name: string = 'FleetError';
  readonly exitCode: 1 | 2;
  /** What to do about it, e.g. a command to type; printed on a line of its own. */
  readonly hint: string | undefined;
  /** Nobody's mistake: the same again may go well in a while, as when a server is away. */
  readonly passing: boolean;

  constructor(message: string, options: More & { exitCode?: 1 | 2 } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
    this.hint = options.hint;
    this.passing = options.passing ?? false;
  }
}

/** Somebody gave something that cannot be: exit code 2. */
export const wrongInput = (message: string, more: More = {}): FleetError =>
  new FleetError(message, { ...more, exitCode: 2 });

/** `at`: the file, or the place in it. */
export const wrongInputAt = (at: string, message: string): FleetError => wrongInput(`${at}: ${message}`);
