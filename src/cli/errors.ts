import { CommanderError } from 'commander';
import { FleetError, wrongInput } from '../domain/error.ts';

/** Whether commander ended a command that has done what was asked, as --help does. */
export const endedWell = (error: unknown): boolean => error instanceof CommanderError && error.exitCode === 0;

/** The one place where an error gets its code. The message is one sentence, or empty where the command has said all. */
export function asFleetError(error: unknown): FleetError {
  if (error instanceof FleetError) return error;
  if (error instanceof CommanderError) {
    const [said = ''] = error.message.replace(/^error: /, '').split('\n');
    return wrongInput(error.code === 'commander.help' ? '' : said.replace(/\.$/, ''));
  }
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  const details: unknown = (cause as { details?: unknown } | undefined)?.details;
  const [first = ''] = (typeof details === 'string' && details ? `Temporal: ${details}` : message).split('\n');
  return new FleetError('internal', first || 'something went wrong', { hint: 'FLEET_DEBUG=1 shows where' });
}
