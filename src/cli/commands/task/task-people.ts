import { wrongInput } from '../../../domain/error.ts';
import { command, whole } from '../../command.ts';
import { oneLine } from '../../output/text.ts';
import { whoami } from '../worker/worker-orders.ts';

/** What a person says to a task that waits, and may say to one that has not begun. */

const KEPT = 'kept with the task';

/** So that a late word is not taken for a yes to something else. */
const APPROVAL = { flag: '--approval <id>', about: 'only if that is what it waits for, e.g. a1' };
const idOf = ({ approval }: { approval?: string }) => (approval === undefined ? {} : { approval });

export const taskApprove = command<{ why?: string; approval?: string }>({
  flags: [{ flag: '--why <why>', about: KEPT }, APPROVAL],
  notes: 'The first yes or no counts. fleet inbox lists what waits.',
  examples: ['fleet task add-health-k3x9qa approve', `fleet task add-health-k3x9qa approve --why 'seen by ops'`],
  async run(cli, { args: [id], flags }) {
    await (await cli.fleet()).approve(id!, { by: whoami(cli.env), why: flags.why?.trim() ?? '', ...idOf(flags) });
    cli.print({ id, approved: true }, () => `task ${id} is approved`);
  },
});

export const taskReject = command<{ why?: string; approval?: string }>({
  flags: [{ flag: '--why <why>', about: 'what its agent is told; required' }, APPROVAL],
  examples: [`fleet task add-health-k3x9qa reject --why 'the endpoint must not need a login'`],
  async run(cli, { args: [id], flags }) {
    const why = flags.why?.trim();
    if (!why) throw wrongInput('--why is required: it is what the agent is told');
    await (await cli.fleet()).reject(id!, { by: whoami(cli.env), why, ...idOf(flags) });
    cli.print({ id, rejected: true }, () => `task ${id} is rejected`);
  },
});

export const taskAnswer = command<{ question?: string }>({
  flags: [{ flag: '--question <id>', about: 'only if that is what it asks, e.g. q1' }],
  notes: `The first answer counts. Its options are suggestions: any answer may be given.
Without --question it is for the question that the task asks now.`,
  examples: [
    `fleet task add-health-k3x9qa answer 'use port 8080'`,
    'fleet task add-health-k3x9qa answer --question q1 yes',
  ],
  async run(cli, { args: [id, answer = ''], flags }) {
    if (!answer.trim()) throw wrongInput('answer must not be empty');
    const fleet = await cli.fleet();
    const { question } = await fleet.view(id!);
    const asked = flags.question ?? question?.id;
    await fleet.answer(id!, { answer, by: whoami(cli.env), ...(asked === undefined ? {} : { question: asked }) });
    const options = question?.id === asked ? (question?.options ?? []) : [];
    cli.print({ id, answered: true }, () => `task ${id} is answered`);
    if (options.length > 0 && !options.includes(answer))
      cli.note(oneLine(`it is none of the options (${options.join(', ')}), and was passed on as it is`));
  },
});

export const taskPriority = command({
  examples: ['fleet task add-health-k3x9qa priority 10'],
  async run(cli, { args: [id, text = ''] }) {
    const priority = whole(text);
    if (typeof priority !== 'number' || priority > 100)
      throw wrongInput(`priority must be a whole number from 0 to 100, not ${JSON.stringify(text)}`);
    await (await cli.fleet()).setPriority(id!, priority);
    cli.print({ id, priority }, () => `task ${id} has priority ${priority}`);
  },
});

const list = (text: string): string[] => text.split(',').flatMap((part) => part.trim() || []);

export const taskNeeds = command<{ add?: string[][]; drop?: string[][] }>({
  flags: [
    { flag: '--add <ids>', about: 'ids of tasks, with commas between; repeatable', many: true, parse: list },
    { flag: '--drop <ids>', about: 'likewise, of those that it is not to wait for any more', many: true, parse: list },
  ],
  examples: [
    'fleet task add-health-k3x9qa needs',
    'fleet task add-health-k3x9qa needs --add schema-7tq2mw --drop docs-b2k8zz',
  ],
  async run(cli, { args: [id], flags }) {
    const [add, drop] = [flags.add?.flat() ?? [], flags.drop?.flat() ?? []];
    const both = add.find((one) => drop.includes(one));
    if (both) throw wrongInput(`${both} stands in both --add and --drop`);
    const fleet = await cli.fleet();
    if (add.length + drop.length > 0) await fleet.changeNeeds(id!, { add, drop });
    const { dependsOn = [] } = await fleet.view(id!);
    cli.print({ id, dependsOn }, () =>
      dependsOn.length
        ? dependsOn.map((one) => oneLine(`${one.id}: ${one.state ?? 'not heard of yet'}`)).join('\n')
        : `task ${id} waits for no other task`,
    );
  },
});
