import { FleetError, type Order } from '../../client.ts';
import { command, type Cli } from '../command.ts';
import {
  fieldsOf,
  inFlags,
  orderFromFlags,
  ordersFromFile,
  ordersFromLines,
  TASK_FLAGS,
  type TaskFlags,
} from '../task-input.ts';

type Flags = TaskFlags & { file?: string; stdin?: boolean };

export const enqueue = command<Flags>({
  name: 'enqueue',
  about: 'put a task into a queue and print its id',
  args: '[words...]',
  flags: [
    ...TASK_FLAGS,
    { flag: '--file <file>', about: 'tasks as YAML documents, with the fields of docs/tasks.md' },
    { flag: '--stdin', about: 'tasks as JSON, one a line, from standard input' },
  ],
  notes: `Arguments: fleet enqueue [queue] '<objective>'. Flags are laid over what --file and --stdin say.
All tasks are checked before any is started.`,
  examples: [
    `fleet enqueue 'Add a /health endpoint' --verify 'npm test'`,
    `fleet enqueue nightly 'Update the dependencies' --coder claude --priority 80`,
    `fleet enqueue --file tasks.yaml`,
  ],
  async run(cli, { args, flags }) {
    const orders = await ordersOf(cli, args, flags);
    const fleet = await cli.fleet();
    await inFlags(() => fleet.enqueueAll(orders, (id) => cli.print({ id }, () => id)));
  },
});

async function ordersOf(cli: Cli, args: string[], flags: Flags): Promise<Order[]> {
  if (!flags.file && !flags.stdin) {
    const [objective, queue] = args.toReversed();
    if (objective === undefined)
      throw new FleetError('objective is required: say what the agent should do', { exitCode: 2 });
    if (args.length > 2) throw new FleetError(`too many arguments: put the objective in quotes`, { exitCode: 2 });
    return [orderFromFlags(cli, { objective, queue, flags })];
  }
  const [queue] = args;
  if (args.length > 1)
    throw new FleetError('--file and --stdin bring their own objectives: give at most a queue', { exitCode: 2 });
  if (flags.file && flags.stdin) throw new FleetError('--file and --stdin cannot be used together', { exitCode: 2 });
  if (flags.id !== undefined)
    throw new FleetError('--id is for one task: write id into each task instead', { exitCode: 2 });
  if (flags.key !== undefined)
    throw new FleetError('--key is for one task: write key into each task instead', { exitCode: 2 });
  const over = { ...fieldsOf(flags), ...(queue === undefined ? {} : { queue }) };
  return flags.file ? ordersFromFile(cli, flags.file, over) : ordersFromLines(cli, await cli.stdin(), over);
}
