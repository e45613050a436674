import { CommanderError } from 'commander';
import { FleetError } from '../domain/error.ts';

/** How a command ended badly, for people and for the shell. */
export interface Ending {
  /** 2 for bad use, 1 for a bad outcome. */
  code: number;
  /** One sentence; none where the command has said all (--help). */
  message?: string;
  hint?: string | undefined;
}

/** The one place where an error becomes an exit code. */
export function endingOf(error: unknown): Ending {
  if (error instanceof FleetError) return { code: error.exitCode, message: error.message, hint: error.hint };
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { code: 0 };
    const [said = ''] = error.message.replace(/^error: /, '').split('\n');
    return { code: 2, ...(error.code === 'commander.help' ? {} : { message: said.replace(/\.$/, '') }) };
  }
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  const details: unknown = (cause as { details?: unknown } | undefined)?.details;
  const [first = ''] = (typeof details === 'string' && details ? `Temporal: ${details}` : message).split('\n');
  return { code: 1, message: first || 'something went wrong', hint: 'FLEET_DEBUG=1 shows where' };
}
