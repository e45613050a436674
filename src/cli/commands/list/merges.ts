import { formatDuration } from '../../../domain/values/duration.ts';
import { command } from '../../command.ts';
import { table } from '../../output/table.ts';
import { oneLine } from '../../output/text.ts';

export const merges = command({
  examples: ['fleet merges', 'fleet merges --json'],
  async run(cli) {
    const found = await (await cli.fleet()).merges();
    const rows = found.flatMap(({ repo, into, count, waiting }) => {
      const at = [oneLine(repo, 60), oneLine(into, 30)];
      const more = count - waiting.length;
      return [
        ...waiting.map(({ id, at: since }) => [...at, id, formatDuration(Date.now() - Date.parse(since))]),
        ...(more > 0 ? [[...at, `and ${more} more`, '']] : []),
      ];
    });
    cli.print(found, () =>
      rows.length ? table(['repository', 'into', 'task', 'waits'], rows) : 'nothing waits to be merged',
    );
  },
});
