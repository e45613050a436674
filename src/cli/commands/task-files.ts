import type { TaskFile } from '../../domain/question.ts';
import { command, whole, type Command } from '../command.ts';
import { readWhole } from '../read-file.ts';
import { clean } from '../text.ts';

/** What a run left on its worker, as text: `fleet task <id> stderr` and its like. */
const file = (name: string, about: string, empty: string): Command =>
  command<{ run?: number }>({
    name: `task ${name}`,
    about,
    args: '<id>',
    flags: [{ flag: '--run <n>', about: 'of this run (default: the last)', parse: whole }],
    examples: [`fleet task add-health-k3x9qa ${name}`],
    async run(cli, { args, flags }) {
      const fleet = await cli.fleet();
      const { text, gap } = await readWhole(fleet, await fleet.findRun(args[0]!, flags.run), name as TaskFile);
      if (gap) cli.note(`${gap} bytes are no longer kept`);
      if (cli.json) cli.print({ text, gap }, () => '');
      // a patch in a file must apply: what it says to a terminal is no danger there
      else if (text) cli.raw(cli.tty ? clean(text).replace(/\n?$/, '\n') : text);
      else cli.note(empty);
    },
  });

export const taskStderr = file('stderr', "what a run's agent said on stderr", 'nothing was said on stderr');
export const taskPlan = file('plan', "the agent's PLAN_AND_STATUS.md", 'the agent has written no plan');
export const taskKnowledge = file('knowledge', "the agent's KNOWLEDGE.md", 'the agent has written no knowledge');
export const taskDiff = file('diff', "a run's result as a patch", 'there is no result yet, or nothing was changed');
