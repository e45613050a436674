import { wrongInput } from '../../../domain/error.ts';
import { command } from '../../command.ts';
import { taskDetails } from '../../output/report.ts';
import { painter } from '../../output/text.ts';

export const TASK_ACTIONS =
  'log, events, stderr, check, plan, knowledge, diff, work, receipts, wait, cancel, retry, accept, give-up, approve, reject, answer, priority, needs';

export const task = command({
  notes: `Actions: ${TASK_ACTIONS}.
Each has its own help: fleet task <id> log --help`,
  examples: [
    'fleet task add-health-k3x9qa',
    'fleet task add-health-k3x9qa log -f',
    `fleet task add-health-k3x9qa accept --why 'checked by hand'`,
  ],
  async run(cli, { args: [id, action] }) {
    if (action) throw wrongInput(`${action} is nothing to do with a task: ${TASK_ACTIONS}`);
    const fleet = await cli.fleet();
    const report = await fleet.view(id!);
    cli.print(report, () => taskDetails(report, { paint: painter(cli), nowMs: Date.now() }));
  },
});
