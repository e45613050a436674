import type { TaskState } from '../../../domain/task/state.ts';
import { TASK_STATES } from '../../../client.ts';
import { command, oneOf, whole } from '../../command.ts';
import { taskTable } from '../../output/report-tasks.ts';
import { standingNotes } from '../../output/standing-notes.ts';
import { painter } from '../../output/text.ts';

/** What a person may look through. */
const LIMIT = 200;

export const tasks = command<{ state?: TaskState[]; all?: boolean; limit?: number }>({
  flags: [
    {
      flag: '--state <state>',
      about: `only ${TASK_STATES.join(', ')}; repeatable`,
      many: true,
      parse: oneOf(TASK_STATES),
    },
    { flag: '--all', about: 'all closed tasks that the server remembers' },
    {
      flag: '--limit <n>',
      about: `open tasks at most, of those that are queued or blocked the newest (default: ${LIMIT}, with --json all)`,
      parse: whole,
    },
  ],
  notes:
    'By what the server knows, also where no worker runs; what an agent does now is told by its last sign of life.',
  examples: ['fleet tasks', 'fleet tasks --state parked --state running', 'fleet tasks --all --json'],
  async run(cli, { flags }) {
    const fleet = await cli.fleet();
    const limit = flags.limit ?? (cli.json ? Infinity : LIMIT);
    const only = flags.state ? { states: flags.state } : {};
    const [listed, notes] = await Promise.all([
      fleet.list({ ...only, all: flags.all ?? false, limit }),
      standingNotes(fleet),
    ]);
    cli.print(listed, () =>
      listed.length
        ? taskTable(listed, { paint: painter(cli), nowMs: Date.now() })
        : `no tasks: put one in with fleet enqueue '<objective>'`,
    );
    for (const note of notes) cli.note(note);
    const open = listed.filter(({ endedAt }) => endedAt === null).length;
    const left = open < limit ? 0 : (await fleet.countOpen(flags.state)) - open;
    if (left > 0) cli.note(`${left} more are open: fleet tasks --limit ${open + left}`);
  },
});
