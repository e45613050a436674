import { command } from '../../command.ts';
import { WHY, whoami } from './worker-orders.ts';

export const pause = command<{ why?: string }>({
  flags: [WHY],
  notes: 'Holds workers that attach later, too, until fleet resume. One worker alone: fleet worker pause <name>.',
  examples: ['fleet pause', `fleet pause --why 'the remote is being moved'`],
  async run(cli, { flags }) {
    const fleet = await cli.fleet();
    const order = await fleet.orders.all({ mode: 'pause', by: whoami(cli.env), why: flags.why?.trim() ?? '' });
    cli.print(
      order,
      () => 'the fleet is paused within 3 seconds, and its runs go on: fleet resume takes new work again',
    );
  },
});
