import { userInfo } from 'node:os';
import type { FollowUpInput } from '../../../client.ts';
import { wrongInput } from '../../../domain/error.ts';
import { labelOf } from '../../../domain/people/external-agent.ts';
import { command } from '../../command.ts';
import { fieldsOf, inFlags, TASK_FLAGS, type TaskFlags } from '../../input/task-input.ts';
import { oneLine } from '../../output/text.ts';

type Flags = TaskFlags & {
  to?: string;
  context?: string;
  callbackTask?: string;
  callbackWebhook?: string;
  callbackMessage?: boolean;
};

export const handOff = command<Flags>({
  flags: [
    { flag: '--to <name>', about: 'a coder, or an agent outside the fleet (default: as the task itself)' },
    { flag: '--context <text>', about: 'what it should know of the work so far' },
    { flag: '--callback-task <id>', about: 'the task whose next run is told how this one ended' },
    { flag: '--callback-webhook <url>', about: 'told by POST how it ended' },
    { flag: '--callback-message', about: 'people are told, by alerts' },
    ...TASK_FLAGS.filter(({ flag }) => !flag.startsWith('--key ')),
  ],
  notes: `What is not said is as in the task that it comes from: repository, base, scope, limits, credential. Nothing of it can be wider
than there. It waits for a person's yes, unless handOff.allow of the configuration names its kind.`,
  examples: [
    `fleet hand-off add-health-x7k2 'Document the endpoint' --to codex --allow 'docs/**'`,
    `fleet hand-off add-health-x7k2 'Look over the wording' --to jean --callback-message`,
  ],
  async run(cli, { args, flags }) {
    const [parent = '', objective = ''] = args;
    if (args.length > 2) throw wrongInput('too many arguments: put the objective in quotes');
    const { to, context, callbackTask: task, callbackWebhook: webhook, callbackMessage: message } = flags;
    const told = { ...(task ? { task } : {}), ...(webhook ? { webhook } : {}), ...(message ? { message } : {}) };
    const followUp: FollowUpInput = {
      task: { ...fieldsOf(flags), objective },
      ...(to === undefined ? {} : { to }),
      ...(context === undefined ? {} : { context }),
      ...(Object.keys(told).length ? { callback: told } : {}),
    };
    const said = {
      from: userInfo().username,
      by: 'person' as const,
      ...(flags.id === undefined ? {} : { id: flags.id }),
    };
    const fleet = await cli.fleet();
    const id = await inFlags(() => fleet.handOff(parent, followUp, said));
    cli.print({ id }, () => id);
    const { state, labels, ...made } = await fleet.view(id);
    if (to !== undefined && (made.for === to || labels.includes(labelOf(to))))
      cli.note(`${oneLine(to, 40)} is no coder that is known here: it is for an agent outside the fleet of that name`);
    if (state === 'awaiting-approval') cli.note(`it waits for a person's yes: fleet task ${id} approve`);
  },
});
