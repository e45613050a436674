import { wrongInput } from '../../../domain/error.ts';
import { command } from '../../command.ts';
import { readInput } from '../../input/input-file.ts';

/** What a task may carry of it, armoured, is 200,000 characters. */
const SCRIPT_MAX = 128_000;

export const seal = command<{ worker?: string[] }>({
  flags: [{ flag: '--worker <name>', about: 'a worker that may verify the task; repeatable', many: true }],
  notes: `Prints text for verify.heldOut: [{ sealed: … }] of a task: the script runs with sh in a checkout of the result, and no
agent, prompt or bundle of receipts ever shows it. - reads the script from stdin.`,
  examples: ['fleet seal --worker ada --worker eve check.sh', 'fleet seal --worker ada check.sh --json'],
  async run(cli, { args, flags: { worker: names = [] } }) {
    if (names.length === 0)
      throw wrongInput('--worker is required: the name of a worker that may verify the task', {
        hint: 'fleet workers lists them',
      });
    const script = await readInput(cli, args[0]!, { maxBytes: SCRIPT_MAX });
    const fleet = await cli.fleet();
    const sealed = await fleet.seal(script, names);
    if (cli.json) cli.print({ sealed, workers: names }, () => sealed);
    else cli.raw(sealed.replace(/\n?$/, '\n'));
  },
});
