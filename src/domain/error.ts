/**
 * What went wrong, for programs, with the exit code that it gives: 2 for bad use, 1 for a bad outcome. Programs decide by
 * the code, never by the message. docs/errors.md says what each one asks for.
 */
export const ERROR_CODES = {
  /** An argument, a flag, a file or a setting has a value that cannot be. */
  'invalid-argument': 2,
  /** Nothing of that name exists: a task, a worker, a file, a branch. */
  'not-found': 2,
  /** Something else has that name already. */
  'already-exists': 2,
  /** What is named is in a state that does not allow it, such as a task that is closed. */
  'wrong-state': 2,
  /** Somebody else holds it, changes it, or does the same at this moment. */
  conflict: 1,
  /** What it needs has not happened yet, such as a task's first run. */
  'not-ready': 1,
  /** The time that was given passed first. */
  timeout: 1,
  /** A server, a worker or a repository that it needs does not answer. The same again may go well in a while. */
  unavailable: 1,
  /** A server does not let this client do it. */
  'permission-denied': 1,
  /** It was tried, and failed. */
  failed: 1,
  /** Nobody foresaw it: a defect of the fleet, or of what it stands on. */
  internal: 1,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

interface More {
  hint?: string | undefined;
  cause?: unknown;
}

/** An error for a person, as one sentence without a stack, and for programs, by its code. */
export class FleetError extends Error {
  override readonly name: string = 'FleetError';
  readonly code: ErrorCode;
  /** What to do about it, e.g. a command to type; printed on a line of its own. */
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, { hint, cause }: More = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
  }

  get exitCode(): 1 | 2 {
    return ERROR_CODES[this.code];
  }
}

/** Whether `error` says that the request itself cannot be: the same again never goes well. */
export const isBadUse = (error: unknown): error is FleetError => error instanceof FleetError && error.exitCode === 2;

export const hasCode = (error: unknown, code: ErrorCode): error is FleetError =>
  error instanceof FleetError && error.code === code;

export const wrongInput = (message: string, more?: More): FleetError =>
  new FleetError('invalid-argument', message, more);

/** `at`: the file, or the place in it. */
export const wrongInputAt = (at: string, message: string): FleetError => wrongInput(`${at}: ${message}`);

export const notFound = (message: string, more?: More): FleetError => new FleetError('not-found', message, more);

export const alreadyExists = (message: string, more?: More): FleetError =>
  new FleetError('already-exists', message, more);

export const wrongState = (message: string, more?: More): FleetError => new FleetError('wrong-state', message, more);
