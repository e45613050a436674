import { wrongInput } from '../../../domain/error.ts';
import { BUNDLE_MAX } from '../../../receipts/bundle/read-bundle.ts';
import { parseTrustedKeys } from '../../../receipts/bundle/trusted-keys.ts';
import { verifyBundle, type Checked } from '../../../receipts/bundle/verify-bundle.ts';
import { command } from '../../command.ts';
import { readInput } from '../../input/input-file.ts';
import { table } from '../../output/table.ts';
import { oneLine, painter, type Paint } from '../../output/text.ts';

export const receiptsVerify = command<{ keys?: string; task?: string; run?: string; verdict?: string }>({
  flags: [
    { flag: '--keys <file>', about: 'the trusted keys, as fleet receipts keys writes them' },
    { flag: '--task <id>', about: 'it must be of this task' },
    { flag: '--run <run id>', about: 'and of this run' },
    { flag: '--verdict <digest>', about: 'its verdict must have this digest, which the task shows' },
  ],
  notes: `Needs neither Temporal nor FLEET_HOME. Exits 0 where the run was accepted and all holds, 1 where it was not accepted,
no receipt shows that it was done (a person had to say yes), or something is wrong, 2 for bad use. - reads the bundle from stdin.`,
  examples: ['fleet receipts verify bundle.jsonl --keys keys.json --task add-health-k3x9qa'],
  async run(cli, { args, flags }) {
    if (flags.keys === undefined)
      throw wrongInput('--keys is required: the file of trusted keys', {
        hint: 'fleet receipts keys -o keys.json writes one',
      });
    const trusted = parseTrustedKeys(await readInput(cli, flags.keys, { maxBytes: BUNDLE_MAX }));
    if (typeof trusted === 'string') throw wrongInput(`--keys ${flags.keys} ${trusted}`);
    const { task, run: runId, verdict } = flags;
    const text = await readInput(cli, args[0]!, { maxBytes: BUNDLE_MAX });
    const checked = verifyBundle(text, { trusted, task, runId, verdict, now: Date.now() });
    cli.print(checked, () => shown(checked, painter(cli)));
    return checked.ok && checked.accepted && checked.doneBy.length > 0 ? 0 : 1;
  },
});

function shown(checked: Checked, paint: Paint): string {
  const rows = checked.statements.map(({ kind, ok, worker, summary }) => [
    ...[kind, ok ? paint('green', 'yes') : paint('red', 'no'), oneLine(worker, 40), oneLine(summary, 120)],
  ]);
  return [
    ...(rows.length ? [table(['receipt', 'ok', 'signed by', 'shows'], rows)] : []),
    ...conclusion(checked, paint),
  ].join('\n');
}

function conclusion(checked: Checked, paint: Paint): string[] {
  if (!checked.ok) {
    const where = checked.line === null ? '' : `line ${checked.line}: `;
    return [`${paint('red', 'wrong')} (${checked.problem}): ${where}${oneLine(checked.message, 300)}`];
  }
  const { accepted, reasons, doneBy, task, runId, commit, base, verdict } = checked;
  const shownBy = doneBy.length > 0;
  return [
    accepted ? paint(shownBy ? 'green' : 'yellow', 'accepted') : paint('red', 'not accepted'),
    ...(accepted && !shownBy ? ["  no receipt shows that it was done: only a person's yes could make it so"] : []),
    ...reasons.map((reason) => `  ${oneLine(reason, 300)}`),
    `  task ${oneLine(task)}, run ${oneLine(runId)}, commit ${commit} on ${base}`,
    `  verdict ${verdict}`,
  ];
}
