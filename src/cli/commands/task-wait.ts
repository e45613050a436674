import { command, durationMs } from '../command.ts';
import { FleetError } from '../../client.ts';
import { describe } from '../status-line.ts';
import { oneLine } from '../text.ts';

export const taskWait = command<{ timeout?: number }>({
  name: 'task wait',
  about: 'wait until the task is closed, or parked for a person',
  args: '<id>',
  flags: [
    { flag: '--timeout <duration>', about: 'give up waiting after this long (the task goes on)', parse: durationMs },
  ],
  notes: 'Exits 0 only where the task is done.',
  examples: ['fleet task add-health-k3x9qa wait --timeout 30m'],
  async run(cli, { args, flags }) {
    const fleet = await cli.fleet();
    const report = await fleet.wait(args[0]!, flags.timeout);
    if (!report) throw new FleetError(`task ${args[0]} is still open`, { hint: `fleet explain ${args[0]} says why` });
    cli.print(report, () => oneLine(describe(report, Date.now()), 300));
    return report.state === 'done' ? 0 : 1;
  },
});
