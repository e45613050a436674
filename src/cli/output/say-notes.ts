import type { Admitted } from '../../client.ts';
import { doneWhen, needsPerson } from '../../domain/evidence/done-by.ts';
import { isUrl } from '../../domain/repository/repository-name.ts';
import type { Cli } from '../command.ts';

type Said = Pick<Admitted, 'notes' | 'task' | 'doneBy'>;

/** What tasks will be done by, and what admission found that their owner should know, each once: none of it was refused. */
export function sayNotes(cli: Pick<Cli, 'note' | 'json'>, admitted: readonly Said[]): void {
  // With --json each id has its own.
  if (!cli.json) sayDoneBy(cli, admitted);
  for (const note of new Set(admitted.flatMap(({ notes }) => notes))) cli.note(`note: ${note}`);
}

const HINT = '; verify, artifacts with a check, or review would show it without one';

/** A line for each way, as many tasks may share one. */
function sayDoneBy(cli: Pick<Cli, 'note'>, admitted: readonly Said[]): void {
  const ways = new Map<string, number>();
  for (const { task, doneBy } of admitted) {
    // What a repository elsewhere asks for is known once a worker has it.
    const more = task.repo !== undefined && isUrl(task.repo) ? ' (its .fleet.yaml may ask for more)' : '';
    const way = `${doneWhen(doneBy)}${needsPerson(doneBy) ? HINT : ''}${more}`;
    ways.set(way, (ways.get(way) ?? 0) + 1);
  }
  for (const [way, count] of ways) cli.note(admitted.length === 1 ? way : `${count} of ${admitted.length}: ${way}`);
}
