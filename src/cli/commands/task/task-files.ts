import type { TaskFile } from '../../../domain/people/question.ts';
import { command, whole, type Cli, type Command } from '../../command.ts';
import { readWhole } from '../../input/read-file.ts';
import { clean } from '../../output/text.ts';

interface Asked {
  id: string;
  n: number | undefined;
  name: TaskFile;
  /** What is said where there is nothing. */
  empty: string;
}

async function printFile(cli: Cli, { id, n, name, empty }: Asked): Promise<void> {
  const fleet = await cli.fleet();
  const { text, gap } = await readWhole(fleet, await fleet.findRun(id, n), name);
  if (gap) cli.note(`${gap} bytes are no longer kept`);
  if (cli.json) cli.print({ text, gap }, () => '');
  // a patch in a file must apply: what it says to a terminal is no danger there
  else if (text) cli.raw(cli.tty ? clean(text).replace(/\n?$/, '\n') : text);
  else cli.note(empty);
}

/** What a run left on its worker, as text: `fleet task <id> stderr` and its like. */
const file = (name: string, empty: string): Command =>
  command<{ run?: number }>({
    flags: [{ flag: '--run <n>', about: 'of this run (default: the last)', parse: whole }],
    examples: [`fleet task add-health-k3x9qa ${name}`],
    run: (cli, { args, flags }) => printFile(cli, { id: args[0]!, n: flags.run, name: name as TaskFile, empty }),
  });

export const taskStderr = file('stderr', 'nothing was said on stderr');
export const taskPlan = file('plan', 'the agent has written no plan');
export const taskKnowledge = file('knowledge', 'the agent has written no knowledge');
export const taskDiff = file('diff', 'there is no result yet, and no saved work, or nothing was changed');

export const taskCheck = command<{ run?: number; setup?: boolean }>({
  flags: [
    { flag: '--run <n>', about: 'of this run (default: the last)', parse: whole },
    { flag: '--setup', about: "the repository's setup commands, before the agent began" },
  ],
  notes: 'Each command stands behind a $, before what it printed. With --json: {"text", "gap"}.',
  examples: ['fleet task add-health-k3x9qa check', 'fleet task add-health-k3x9qa check --setup --run 1'],
  run: (cli, { args, flags }) =>
    printFile(cli, {
      id: args[0]!,
      n: flags.run,
      ...(flags.setup
        ? { name: 'setup', empty: 'no setup command ran, or none printed anything' }
        : { name: 'acceptance', empty: 'no acceptance command ran on a result of this run' }),
    }),
});
