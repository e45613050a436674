import { command } from '../../command.ts';
import { rollbackNotes } from '../../output/standing-notes.ts';
import { oneLine } from '../../output/text.ts';
import { whoami } from './worker-orders.ts';

export const resume = command({
  notes: 'What single workers were ordered stands: fleet worker resume <name>.',
  examples: ['fleet resume'],
  async run(cli) {
    const fleet = await cli.fleet();
    const { withdrawn, orders } = await fleet.orders.resumeAll(whoami(cli.env));
    cli.print({ withdrawn, orders }, () =>
      [
        withdrawn ? 'the fleet takes new work again' : 'there was no order to all workers',
        ...orders.map(
          ({ worker, mode }) =>
            `${oneLine(worker ?? '')} has an order of its own (${mode}): fleet worker resume ${worker}`,
        ),
      ].join('\n'),
    );
    for (const note of await rollbackNotes(fleet)) cli.note(note);
  },
});
