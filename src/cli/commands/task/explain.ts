import { doneWhen } from '../../../domain/evidence/done-by.ts';
import { command } from '../../command.ts';
import { oneLine } from '../../output/text.ts';

export const explain = command({
  examples: ['fleet explain add-health-k3x9qa'],
  async run(cli, { args }) {
    const fleet = await cli.fleet();
    const explanation = await fleet.explain(args[0]!);
    const { sentence, doneBy } = explanation;
    cli.print(explanation, () => [oneLine(sentence), ...(doneBy ? [doneWhen(doneBy)] : [])].join('\n'));
  },
});
