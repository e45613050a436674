import { command } from '../../command.ts';
import { workerTable } from '../../output/report.ts';
import { standingNotes } from '../../output/standing-notes.ts';
import { painter } from '../../output/text.ts';

export const workers = command<{ all?: boolean }>({
  flags: [{ flag: '--all', about: 'also those that left as they should, of the last 7 days' }],
  examples: ['fleet workers', 'fleet workers --json'],
  async run(cli, { flags }) {
    const fleet = await cli.fleet();
    const shown = (await fleet.workers()).filter(
      ({ state, debts }) => flags.all || state !== 'detached' || debts.length > 0,
    );
    cli.print(shown, () =>
      shown.length
        ? workerTable(shown, { paint: painter(cli), nowMs: Date.now() })
        : 'no worker is attached: start one with fleet worker',
    );
    for (const note of await standingNotes(fleet)) cli.note(note);
  },
});
