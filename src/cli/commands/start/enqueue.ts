import type { Order } from '../../../client.ts';
import { wrongInput } from '../../../domain/error.ts';
import { command, type Cli } from '../../command.ts';
import { sayNotes } from '../../output/say-notes.ts';
import {
  fieldsOf,
  inFlags,
  orderFromFlags,
  ordersFromLines,
  TASK_FLAGS,
  type TaskFlags,
} from '../../input/task-input.ts';
import { ordersFromFile, TASKS_BYTES } from '../../input/tasks-file.ts';
import { readInput } from '../../input/input-file.ts';

type Flags = TaskFlags & { queue?: string; file?: string; stdin?: boolean };

export const enqueue = command<Flags>({
  flags: [
    ...TASK_FLAGS,
    { flag: '--file <file>', about: 'tasks as YAML documents, with the fields of docs/tasks.md' },
    { flag: '--stdin', about: 'tasks as JSON, one a line, from standard input' },
  ],
  notes: `Arguments: fleet enqueue [queue] '<objective>'; --queue says the same as the first one. Flags are laid over what --file and --stdin say.
All tasks are checked before any is started.`,
  examples: [
    `fleet enqueue 'Add a /health endpoint' --verify 'npm test'`,
    `fleet enqueue nightly 'Update the dependencies' --coder claude --priority 80`,
    `fleet enqueue --file tasks.yaml`,
  ],
  async run(cli, { args, flags }) {
    const orders = await ordersOf(cli, args, flags);
    const fleet = await cli.fleet();
    const started = await inFlags(() =>
      fleet.enqueueAll(orders, ({ id, doneBy }) => cli.print({ id, doneBy }, () => id)),
    );
    sayNotes(cli, started);
  },
});

async function ordersOf(cli: Cli, args: string[], given: Flags): Promise<Order[]> {
  const many = given.file !== undefined || given.stdin === true;
  const [queue, ...words] = many || args.length > 1 ? args : [undefined, ...args];
  const flags = inQueue(given, queue);
  if (!many) {
    const [objective] = words;
    if (objective === undefined) throw wrongInput('objective is required: say what the agent should do');
    if (words.length > 1) throw wrongInput(`too many arguments: put the objective in quotes`);
    return [orderFromFlags(cli, { objective, flags })];
  }
  if (words.length > 0) throw wrongInput('--file and --stdin bring their own objectives: give at most a queue');
  if (flags.file !== undefined && flags.stdin) throw wrongInput('--file and --stdin cannot be used together');
  if (flags.id !== undefined) throw wrongInput('--id is for one task: write id into each task instead');
  if (flags.key !== undefined) throw wrongInput('--key is for one task: write key into each task instead');
  const over = fieldsOf(flags);
  return flags.file === undefined
    ? ordersFromLines(cli, await readInput(cli, '-', { maxBytes: TASKS_BYTES }), over)
    : ordersFromFile(cli, flags.file, over);
}

/** The queue can be said as an argument or as a flag. */
function inQueue(flags: Flags, queue: string | undefined): Flags {
  if (queue === undefined) return flags;
  if (flags.queue !== undefined && flags.queue !== queue)
    throw wrongInput(`the queue is given twice, as ${queue} and as --queue ${flags.queue}: give one`);
  return { ...flags, queue };
}
