import { wrongInput } from '../../../domain/error.ts';
import type { ScheduleView, ScheduleWhen } from '../../../domain/produce/schedule.ts';
import type { TaskInput } from '../../../domain/task/schema.ts';
import { command, durationMs, oneOf, type Cli, type Command } from '../../command.ts';
import { table } from '../../output/table.ts';
import { fieldsOf, inFlags, orderFromFlags, TASK_FLAGS, type TaskFlags } from '../../input/task-input.ts';
import { ordersFromFile } from '../../input/tasks-file.ts';
import { clean, oneLine, painter, paintState } from '../../output/text.ts';

type AddFlags = TaskFlags & {
  cron?: string;
  every?: number;
  timezone?: string;
  overlap?: 'skip' | 'allow';
  file?: string;
};

const ACTIONS = ['add', 'list', 'show', 'pause', 'resume', 'trigger', 'remove'];

export const schedule = command({
  examples: [`fleet schedule add nightly --cron '0 2 * * *' 'Update the dependencies'`, 'fleet schedule list'],
  async run(_cli, { args: [word] }) {
    throw wrongInput(
      word === undefined
        ? `say what to do: ${ACTIONS.join(', ')}`
        : `${word} is nothing to do with schedules: ${ACTIONS.join(', ')}`,
    );
  },
});

export const scheduleAdd = command<AddFlags>({
  flags: [
    { flag: '--cron <cron>', about: `minute hour day month weekday, or @daily and the like` },
    { flag: '--every <duration>', about: 'instead of --cron', parse: durationMs },
    { flag: '--timezone <zone>', about: 'that --cron is meant in, e.g. Europe/Berlin (default: UTC)' },
    {
      flag: '--overlap <how>',
      about: 'skip: nothing new while the last task is open; allow (default: skip)',
      parse: oneOf(['skip', 'allow'] as const),
    },
    { flag: '--file <file>', about: 'the task as YAML, with the fields of docs/tasks.md' },
    ...TASK_FLAGS.filter(({ flag }) => !/^--(id|key) /.test(flag)),
  ],
  notes: `Tasks are called <name>-<time>. The repository's base is looked up each time. What fell into a time when the server was away
is not made up. More: docs/schedule.md.`,
  examples: [
    `fleet schedule add nightly --cron '0 2 * * *' 'Update the dependencies' --verify 'npm test'`,
    `fleet schedule add triage --every 30m --file triage.yaml`,
  ],
  async run(cli, { args: [name, objective], flags }) {
    const input = await taskOf(cli, objective, flags);
    const order = { name: name!, when: whenOf(flags), overlap: flags.overlap ?? ('skip' as const), input };
    const fleet = await cli.fleet();
    const next = await inFlags(() => fleet.schedules.add(order));
    cli.print({ name, next: next.toISOString() }, () => `schedule ${name} fires first at ${next.toISOString()}`);
  },
});

function whenOf({ cron, every, timezone }: AddFlags): ScheduleWhen {
  if ((cron === undefined) === (every === undefined)) throw wrongInput('either --cron or --every is required');
  if (cron !== undefined) return { cron, timezone: timezone ?? null };
  if (timezone !== undefined) throw wrongInput('--timezone goes with --cron only');
  if (every! < 1_000) throw wrongInput('--every must be 1s at least');
  return { everyMs: every! };
}

async function taskOf(cli: Cli, objective: string | undefined, flags: AddFlags): Promise<TaskInput> {
  if (flags.file === undefined) {
    if (objective === undefined) throw wrongInput('objective is required: say what the agent should do');
    return orderFromFlags(cli, { objective, flags }).input as TaskInput;
  }
  if (objective !== undefined) throw wrongInput('--file brings its own objective');
  const [order, ...more] = await ordersFromFile(cli, flags.file, fieldsOf(flags));
  if (!order || more.length > 0)
    throw wrongInput(`${flags.file} must hold one task, not ${more.length + 1}: each has a schedule of its own`);
  if (order.id !== undefined) throw wrongInput(`${flags.file} must give no id: each task has one with its time`);
  return order.input as TaskInput;
}

export const scheduleList = command({
  examples: ['fleet schedule list', 'fleet schedule list --json'],
  async run(cli) {
    const schedules = await (await cli.fleet()).schedules.list();
    cli.print(schedules, () =>
      schedules.length ? scheduleTable(schedules, cli) : 'no schedules: fleet schedule add makes one',
    );
  },
});

export const scheduleShow = command({
  examples: ['fleet schedule show nightly'],
  async run(cli, { args }) {
    const fleet = await cli.fleet();
    const it = await fleet.schedules.show(args[0]!);
    const ids = [...new Set([...it.open, ...(it.last ? [it.last.task] : [])])];
    const states = await fleet.standing(ids);
    const tasks = Object.fromEntries(ids.map((id) => [id, states.get(id) ?? null]));
    cli.print({ ...it, tasks }, () =>
      [
        scheduleTable([it], cli),
        `objective  ${oneLine(it.input.objective, 200)}`,
        `overlap    ${it.overlap}`,
        `made       ${it.made}; left out as the last one was open ${it.skipped}, as the server was away ${it.missed}`,
        ...ids.map(
          (id) => `task       ${id}: ${states.get(id) ?? 'not in the queue: it was refused, or is forgotten'}`,
        ),
      ].join('\n'),
    );
  },
});

function scheduleTable(schedules: readonly ScheduleView[], cli: Cli): string {
  const paint = painter(cli);
  return table(
    ['name', 'when', 'next', 'last task', 'queue', 'title', 'state'],
    schedules.map((it) => [
      it.name,
      oneLine(it.when, 40),
      it.paused ? '' : (it.next ?? 'never'),
      oneLine(it.last?.task ?? '', 64),
      oneLine(it.queue, 40),
      oneLine(it.title, 40),
      it.paused ? `${paintState(paint, 'paused')}${it.note ? `: ${oneLine(clean(it.note), 40)}` : ''}` : '',
    ]),
  );
}

/** What is done to one schedule by its name. */
const deed = (deed: { name: string; done: string; act(cli: Cli, name: string): Promise<void> }): Command =>
  command({
    examples: [`fleet schedule ${deed.name} nightly`],
    async run(cli, { args: [name] }) {
      await deed.act(cli, name!);
      cli.print({ name, [deed.name]: true }, () => `schedule ${name} ${deed.done}`);
    },
  });

const by = (cli: Cli): string => `by ${cli.env['USER'] ?? 'somebody'}`;
export const schedulePause = deed({
  name: 'pause',
  done: 'is paused',
  act: async (cli, name) => (await cli.fleet()).schedules.pause(name, by(cli)),
});
export const scheduleResume = deed({
  name: 'resume',
  done: 'goes on',
  act: async (cli, name) => (await cli.fleet()).schedules.resume(name, by(cli)),
});
export const scheduleRemove = deed({
  name: 'remove',
  done: 'is removed',
  act: async (cli, name) => (await cli.fleet()).schedules.remove(name),
});
export const scheduleTrigger = command({
  examples: ['fleet schedule trigger nightly'],
  async run(cli, { args }) {
    const id = await (await cli.fleet()).schedules.trigger(args[0]!);
    cli.print({ id }, () => id);
  },
});
