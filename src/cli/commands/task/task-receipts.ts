import { command } from '../../command.ts';
import { noAcceptance, receiptTable } from '../../output/report.ts';
import { painter, paragraph } from '../../output/text.ts';

export const taskReceipts = command({
  examples: ['fleet task add-health-k3x9qa receipts', 'fleet task add-health-k3x9qa receipts --json'],
  async run(cli, { args }) {
    const fleet = await cli.fleet();
    const report = await fleet.view(args[0]!);
    const { id, verdict, receipts } = report;
    cli.print({ id, verdict, receipts }, () => {
      if (!verdict) return `there are no receipts of task ${id} yet`;
      const said = verdict.accepted ? `accepted${noAcceptance(report, ' ')}` : 'rejected';
      return [
        receiptTable(receipts, painter(cli)),
        said,
        ...verdict.reasons.map((reason) => `  ${paragraph(reason, '    ')}`),
      ].join('\n');
    });
  },
});
