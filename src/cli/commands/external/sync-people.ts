import { wrongInput } from '../../../domain/error.ts';
import { claimTask, completeTask } from '../../../producers/git-queue/people.ts';
import { lookAtTasks, withQueue } from '../../../producers/git-queue/queue.ts';
import { isClaimed, isOpen } from '../../../domain/produce/git-queue.ts';
import { command } from '../../command.ts';
import { AS, nameOf, QUEUE_FLAGS, queueOf, type QueueFlags } from '../../input/queue-args.ts';
import { table } from '../../output/table.ts';
import { oneLine, paintState, painter } from '../../output/text.ts';

/** A git queue for people, and for agents outside of every fleet: no Temporal server is needed. */

const URL = 'git@example.com:team/tasks.git';

export const syncList = command<QueueFlags & { status?: string[] }>({
  flags: [...QUEUE_FLAGS, { flag: '--status <status>', about: 'only these; repeatable', many: true }],
  examples: [`fleet sync list ${URL}`, `fleet sync list ${URL} --status pending --json`],
  async run(cli, { args: [url = ''], flags }) {
    const { tasks, faults } = await withQueue(queueOf(cli, url, { flags }), lookAtTasks);
    const rank = (status: string): number => (isOpen({ status }) ? 0 : isClaimed({ status }) ? 1 : 2);
    const shown = [...tasks.values()]
      .filter(({ task }) => !flags.status || flags.status.includes(task.status))
      .sort(({ task: a }, { task: b }) => rank(a.status) - rank(b.status));
    const paint = painter(cli);
    cli.print(
      {
        tasks: shown.map(({ path, task: { text: _, ...task } }) => ({ path, ...task })),
        problems: faults,
      },
      () =>
        shown.length
          ? table(
              ['id', 'status', 'for', 'claimed by', 'title'],
              shown.map(({ task }) => [
                task.id,
                paintState(paint, oneLine(task.status, 20)),
                oneLine(task.forAgent, 20),
                oneLine(task.claimedBy, 30),
                oneLine(task.title ?? task.description, 60),
              ]),
            )
          : `no tasks: add one with fleet sync add ${url} '<description>'`,
    );
    for (const { path, message } of faults) cli.note(oneLine(`${path} ${message}`));
  },
});

export const syncClaim = command<QueueFlags & { as?: string }>({
  flags: [...QUEUE_FLAGS, AS],
  examples: [`fleet sync claim ${URL} fix-login --as jean`],
  async run(cli, { args: [url = '', id = ''], flags }) {
    const name = nameOf(cli, flags.as);
    await withQueue(queueOf(cli, url, { flags, by: name }), (queue) => claimTask(queue, { id, name }));
    cli.print({ id, claimed_by: name }, () => `${id} is claimed by ${name}`);
  },
});

export const syncComplete = command<QueueFlags & { as?: string; result?: string; failed?: boolean }>({
  flags: [
    ...QUEUE_FLAGS,
    AS,
    { flag: '--result <text>', about: 'what came of it; kept as JSON where it is an object' },
    { flag: '--failed', about: 'it is failed, not done' },
  ],
  examples: [
    `fleet sync complete ${URL} fix-login --as jean --result 'merged as 3f2a11c'`,
    `fleet sync complete ${URL} fix-login --as jean --failed --result 'cannot be reproduced'`,
  ],
  async run(cli, { args: [url = '', id = ''], flags }) {
    const name = nameOf(cli, flags.as);
    const status = flags.failed ? 'failed' : 'done';
    const result = resultOf(flags.result);
    await withQueue(queueOf(cli, url, { flags, by: name }), (queue) =>
      completeTask(queue, { id, name, status, result }),
    );
    cli.print({ id, status }, () => `${id} is ${status}`);
  },
});

function resultOf(said: string | undefined): object {
  if (said === undefined || !said.trim()) throw wrongInput('--result is required: say what came of it');
  try {
    const value: unknown = JSON.parse(said);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Plain words, as most people write.
  }
  return { summary: said };
}
