import type { TaskState } from '../../domain/run.ts';
import { TASK_STATES } from '../../client.ts';
import { command, oneOf } from '../command.ts';
import { taskTable } from '../report.ts';
import { standingNotes } from '../standing-notes.ts';
import { oneLine, painter } from '../text.ts';

export const tasks = command<{ state?: TaskState[]; all?: boolean }>({
  flags: [
    {
      flag: '--state <state>',
      about: `only ${TASK_STATES.join(', ')}; repeatable`,
      many: true,
      parse: oneOf(TASK_STATES),
    },
    { flag: '--all', about: 'all closed tasks that the server remembers' },
  ],
  examples: ['fleet tasks', 'fleet tasks --state parked --state running', 'fleet tasks --all --json'],
  async run(cli, { flags }) {
    const fleet = await cli.fleet();
    const reports = await fleet.list({ ...(flags.state ? { states: flags.state } : {}), all: flags.all ?? false });
    cli.print(reports, () =>
      reports.length
        ? taskTable(reports, { paint: painter(cli), nowMs: Date.now() })
        : `no tasks: put one in with fleet enqueue '<objective>'`,
    );
    for (const note of await standingNotes(fleet)) cli.note(note);
    const partial = reports.find((report) => report.partial);
    if (partial) cli.note(oneLine(`some tasks are shown by what the server knows: ${partial.message}`));
  },
});
