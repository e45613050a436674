import type { Fleet } from '../../../client.ts';
import { FleetError, wrongInput, notFound } from '../../../domain/error.ts';
import type { DoneBy } from '../../../domain/evidence/done-by.ts';
import { planTasks, type PlannedTask } from '../../../domain/produce/plan.ts';
import { checkProposed, PROPOSED_SPEC, proposeObjective } from '../../../domain/produce/propose-spec.ts';
import type { TaskState } from '../../../domain/task/state.ts';
import { command, type Cli } from '../../command.ts';
import { readInput } from '../../input/input-file.ts';
import { planTree } from '../../plan/tree.ts';
import { readSpecs, textAsSpec, type ReadSpecs } from '../../plan/read-specs.ts';
import { readWhole } from '../../input/read-file.ts';
import { sayNotes } from '../../output/say-notes.ts';
import { fieldsOf, inFlags, orderFromFlags, orderOf, TASK_FLAGS, type TaskFlags } from '../../input/task-input.ts';
import { oneLine, painter } from '../../output/text.ts';

type Flags = TaskFlags & { yes?: boolean; name?: string; agent?: string; fromTask?: string };

/** They are of one task, or what the spec itself says. */
const NOT_FOR_MANY = ['--id', '--key', '--title', '--needs'];

export const plan = command<Flags>({
  flags: [
    { flag: '--yes', about: 'put them into the queue without asking' },
    { flag: '--name <name>', about: "what ids begin with (default: the spec's own name, or its file's)" },
    { flag: '--agent <coder>', about: 'an agent turns a spec in prose into one with tasks' },
    { flag: '--from-task <id>', about: 'the spec that such a task has written' },
    ...TASK_FLAGS.filter(({ flag }) => !NOT_FOR_MANY.includes(flag.split(' ')[0]!)),
  ],
  notes: `A spec is a markdown file, or a folder of them: "- [ ] text" is a task, [x] is done, [P] goes beside its neighbours,
numbered headings come one after the other, (after: T001) says it outright. The form: docs/plan.md.
Planning the same spec again makes no task twice. Flags are laid over what the spec says.`,
  examples: [
    'fleet plan specs/shop/tasks.md',
    `fleet plan specs/shop --verify 'npm test' --yes`,
    'fleet plan idea.md --agent claude',
    'fleet plan --from-task plan-idea-k3x9qa',
  ],
  async run(cli, { args: [path], flags }) {
    if ((path === undefined) === (flags.fromTask === undefined))
      throw wrongInput(
        path === undefined
          ? 'spec is required: a markdown file, or a folder of them'
          : '--from-task brings its own spec',
      );
    if (flags.agent !== undefined) return propose(cli, path, { ...flags, agent: flags.agent });
    const read =
      path === undefined
        ? await fromTask(await cli.fleet(), flags.fromTask!, flags.name)
        : await readSpecs(cli, path, flags.name);
    const tasks = planTasks(read.specs);
    if (path === undefined) checkProposed(tasks);
    for (const { at, text } of read.leftOut) cli.note(oneLine(`${at} is left out: ${text}`, 160));
    return settle(cli, { tasks, flags, again: path ?? `--from-task ${flags.fromTask}` });
  },
});

interface Given {
  tasks: PlannedTask[];
  flags: Flags;
  /** What was planned, as typed. */
  again: string;
}

async function settle(cli: Cli, { tasks, flags, again }: Given): Promise<number> {
  const fleet = await cli.fleet();
  const own = new Set(tasks.map(({ id }) => id));
  const there = await fleet.standing(tasks.flatMap(({ id, dependsOn }) => [id, ...dependsOn]));
  for (const { at, dependsOn } of tasks)
    for (const id of dependsOn)
      if (!own.has(id) && !there.has(id))
        throw wrongInput(`${at}: waits for ${id}, which is neither in the spec nor in the queue`);
  const missing = tasks.filter(({ id }) => !there.has(id));
  const orders = missing.map(({ id, fields, at }) =>
    orderOf(cli, { value: { ...fields, id }, at, over: fieldsOf(flags) }),
  );
  const admitted = new Map((await inFlags(() => fleet.admit(orders))).map(({ id, doneBy }) => [id, doneBy]));
  const shown = (task: PlannedTask) => asShown(task, { there, doneBy: admitted.get(task.id) ?? null });
  if (!flags.yes || !cli.json) cli.print(tasks.map(shown), () => planTree(tasks, { there, paint: painter(cli) }));
  if (missing.length === 0) {
    cli.note(tasks.length ? 'all of them are in the queue already' : 'nothing is left to do: all tasks are ticked off');
    if (cli.json && flags.yes) cli.print([], () => '');
    return 0;
  }
  const few = missing.length === 1 ? 'one task' : `${missing.length} tasks`;
  const agreed = flags.yes ?? (await cli.agreed(`put ${few} into the queue? [y/N] `));
  if (agreed === undefined) {
    cli.note(`nothing was put into the queue: fleet plan ${again} --yes does`);
    return 2;
  }
  if (!agreed) {
    cli.note('nothing was put into the queue');
    return 1;
  }
  sayNotes(cli, await inFlags(() => fleet.enqueueAll(orders)));
  if (cli.json) cli.print(missing.map(shown), () => '');
  else cli.note(`${few} put into the queue: fleet graph shows how they go`);
  return 0;
}

/** `doneBy` is null for what is in the queue already: `fleet explain` says it. */
const asShown = (
  { id, title, dependsOn, at, fields }: PlannedTask,
  { there, doneBy }: { there: ReadonlyMap<string, TaskState>; doneBy: DoneBy[] | null },
) => ({
  ...{ id, title, dependsOn, at, state: there.get(id) ?? null, doneBy, fields },
});

/** A spec with a task in it: what else it says is looked at when it is planned. */
const PROPOSED = { path: PROPOSED_SPEC, matches: String.raw`^\s*[-*] \[ \] \S` };

/** The task that writes the spec. */
async function propose(cli: Cli, path: string | undefined, flags: Flags & { agent: string }): Promise<void> {
  if (path === undefined) throw wrongInput('--agent needs a spec to read, not --from-task');
  const text = await readInput(cli, path, { maxBytes: PROSE_MAX });
  const asked = { objective: proposeObjective({ file: path, text }), flags: { ...flags, coder: flags.agent } };
  const { input } = orderFromFlags(cli, asked);
  const fleet = await cli.fleet();
  const fields = { type: 'research', title: `Plan ${path}`.slice(0, 100), artifacts: [PROPOSED], deliver: 'none' };
  await inFlags(async () => {
    const id = await fleet.enqueue({ ...(input as { objective: string }), ...fields } as Parameters<
      Fleet['enqueue']
    >[0]);
    cli.print({ id }, () => id);
    cli.note(`once it is done: fleet plan --from-task ${id}`);
  });
}

async function fromTask(fleet: Fleet, id: string, name: string | undefined): Promise<ReadSpecs> {
  const { state } = await fleet.view(id);
  if (state !== 'done')
    throw new FleetError('not-ready', `task ${id} is ${state}: it has to be done first`, {
      hint: `fleet task ${id} wait`,
    });
  const { text } = await readWhole(fleet, await fleet.findRun(id), 'spec');
  if (!text)
    throw notFound(`task ${id} has left no ${PROPOSED_SPEC}: fleet plan <spec> --agent <coder> makes one that does`);
  return textAsSpec({ file: PROPOSED_SPEC, name: name ?? id, text });
}

/** An objective has room for it. */
const PROSE_MAX = 90_000;
