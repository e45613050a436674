import { command } from '../command.ts';
import { workerTable } from '../report.ts';

export const workers = command({
  name: 'workers',
  about: 'attached workers, their slots, coders and runs',
  examples: ['fleet workers', 'fleet workers --json'],
  async run(cli) {
    const fleet = await cli.fleet();
    const attached = await fleet.workers();
    cli.print(attached, () =>
      attached.length ? workerTable(attached, Date.now()) : 'no worker is attached: start one with fleet worker',
    );
  },
});
