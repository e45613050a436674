import type { Admitted } from '../client.ts';
import type { Cli } from './command.ts';

/** What admission found that its owner should know, each once: none of it was refused. */
export function sayNotes(cli: Pick<Cli, 'note'>, admitted: readonly Admitted[]): void {
  for (const note of new Set(admitted.flatMap(({ notes }) => notes))) cli.note(`note: ${note}`);
}
