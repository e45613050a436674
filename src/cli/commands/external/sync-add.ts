import { randomBytes } from 'node:crypto';
import { wrongInput } from '../../../domain/error.ts';
import { checkNew } from '../../../domain/produce/git-queue.ts';
import { isTaskId, taskIdOf } from '../../../domain/names.ts';
import { titleOf } from '../../../domain/task/title.ts';
import { addTask } from '../../../producers/git-queue/people.ts';
import { withQueue } from '../../../producers/git-queue/queue.ts';
import { command } from '../../command.ts';
import { QUEUE_FLAGS, queueOf, type QueueFlags } from '../../input/queue-args.ts';
import { asFlags, fieldsOf, TASK_FLAGS, type TaskFlags } from '../../input/task-input.ts';
import { whoami } from '../worker/worker-orders.ts';

type Flags = QueueFlags & Omit<TaskFlags, 'for'> & { for?: string; by?: string };

/** What a shared queue may not say of a task, and what means something else here. */
const NOT_HERE = /^--(credential|env|needs|for|repo|key|producer) /;

export const syncAdd = command<Flags>({
  flags: [
    ...QUEUE_FLAGS,
    { flag: '--for <name>', about: 'for_agent: a fleet, or somebody outside; fleet: any fleet (default: any)' },
    { flag: '--by <name>', about: 'who wants it: as in created_by (default: you)' },
    { flag: '--repo <path-or-url>', about: "git repository, as the fleets reach it (default: each fleet's own)" },
    ...TASK_FLAGS.filter(({ flag }) => !NOT_HERE.test(flag)),
  ],
  notes: 'No Temporal server is needed. The repository of the task has to be one that the fleets can reach.',
  examples: [
    `fleet sync add git@example.com:team/tasks.git 'Add a /health endpoint' --verify 'npm test'`,
    `fleet sync add /srv/tasks.git 'Call the customer' --for jean --type message`,
  ],
  async run(cli, { args: [url = '', description = ''], flags }) {
    const { for: forAgent, ...given } = flags;
    const { title: named, type, ...task } = fieldsOf(given) as { title?: string; type?: string };
    const wrong = checkNew({ description, title: named, type, task });
    if (wrong) throw wrongInput(asFlags(wrong.replace(/^task\./, '')));
    const title = titleOf({ objective: description.trim(), ...(named === undefined ? {} : { title: named }) });
    const id = flags.id ?? taskIdOf(title, randomBytes(3).toString('hex'));
    if (!isTaskId(id))
      throw wrongInput(
        `--id ${JSON.stringify(id)} must be lower-case words joined by ".", "_" or "-", 64 characters at most`,
      );
    const createdBy = flags.by ?? whoami(cli.env);
    const path = await withQueue(queueOf(cli, url, { flags, by: createdBy }), (queue) =>
      addTask(queue, {
        ...{ id, title, description, type, task, createdBy },
        forAgent: forAgent?.trim() || 'any',
        at: new Date().toISOString(),
      }),
    );
    cli.print({ id, path }, () => id);
  },
});
