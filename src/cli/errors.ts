import { CommanderError } from 'commander';
import { ERROR_CODES, FleetError, type ErrorCode } from '../domain/error.ts';

/** How a command ended badly, for people, for programs and for the shell. */
export interface Ending {
  /** Missing: it ended well, as --help does. */
  code?: ErrorCode;
  /** 2 for bad use, 1 for a bad outcome. */
  exitCode: number;
  /** One sentence; none where the command has said all (--help). */
  message?: string;
  hint?: string | undefined;
}

/** The one place where an error becomes an exit code. */
export function endingOf(error: unknown): Ending {
  if (error instanceof FleetError) return ending(error.code, error.message, error.hint);
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { exitCode: 0 };
    const [said = ''] = error.message.replace(/^error: /, '').split('\n');
    return ending('invalid-argument', error.code === 'commander.help' ? undefined : said.replace(/\.$/, ''));
  }
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  const details: unknown = (cause as { details?: unknown } | undefined)?.details;
  const [first = ''] = (typeof details === 'string' && details ? `Temporal: ${details}` : message).split('\n');
  return ending('internal', first || 'something went wrong', 'FLEET_DEBUG=1 shows where');
}

const ending = (code: ErrorCode, message?: string, hint?: string): Ending => ({
  ...{ code, exitCode: ERROR_CODES[code], hint },
  ...(message === undefined ? {} : { message }),
});
