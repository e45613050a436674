import { command, durationMs } from '../../command.ts';
import { isSettled } from '../../../client.ts';
import { FleetError } from '../../../domain/error.ts';
import { inboxItem } from '../../../domain/list/inbox.ts';
import { describe } from '../../output/status-line.ts';
import { oneLine } from '../../output/text.ts';

export const taskWait = command<{ timeout?: number }>({
  flags: [
    { flag: '--timeout <duration>', about: 'give up waiting after this long (the task goes on)', parse: durationMs },
  ],
  notes: 'Exits 0 only where the task is done. What it needs a person for meanwhile is told on stderr.',
  examples: ['fleet task add-health-k3x9qa wait --timeout 30m'],
  async run(cli, { args, flags }) {
    const fleet = await cli.fleet();
    const { timeout } = flags;
    let told = '';
    for await (const report of fleet.follow(
      args[0]!,
      timeout === undefined ? {} : { signal: AbortSignal.timeout(timeout) },
    )) {
      const item = inboxItem(report);
      const needs = item ? oneLine(`it waits for a person: ${item.text}: ${item.commands[0]}`, 600) : '';
      if (needs && needs !== told) cli.note(needs);
      told = needs;
      if (!isSettled(report)) continue;
      cli.print(report, () => oneLine(describe(report, Date.now()), 300));
      return report.state === 'done' ? 0 : 1;
    }
    throw new FleetError('timeout', `task ${args[0]} is still open`, { hint: `fleet explain ${args[0]} says why` });
  },
});
