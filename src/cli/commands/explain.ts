import { command } from '../command.ts';
import { oneLine } from '../text.ts';

export const explain = command({
  name: 'explain',
  about: 'why a task is not running, or not done, in one sentence',
  args: '<id>',
  examples: ['fleet explain add-health-k3x9qa'],
  async run(cli, { args }) {
    const fleet = await cli.fleet();
    const explanation = await fleet.explain(args[0]!);
    cli.print(explanation, () => oneLine(explanation.sentence));
  },
});
