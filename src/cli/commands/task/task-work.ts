import type { Fleet } from '../../../client.ts';
import { formatDuration } from '../../../domain/values/duration.ts';
import { wrongInput } from '../../../domain/error.ts';
import type { SavedThere } from '../../../domain/agent/saved-work.ts';
import { command, whole, type Cli } from '../../command.ts';
import { table } from '../../output/table.ts';
import { inFlags } from '../../input/task-input.ts';
import { oneLine } from '../../output/text.ts';

interface Flags {
  run?: number;
  branch?: string;
  continue?: boolean;
  objective?: string;
  id?: string;
}

export const taskWork = command<Flags>({
  flags: [
    { flag: '--run <n>', about: 'of this run (default: the newest that left something)', parse: whole },
    { flag: '--branch <name>', about: "make this branch of it in the task's repository" },
    { flag: '--continue', about: 'make a new task that goes on from it (on --branch, default: saved/<id>-<run>)' },
    { flag: '--objective <text>', about: 'of the new task (default: the same)' },
    { flag: '--id <id>', about: 'of the new task (default: made from the title)' },
  ],
  notes: `Also of a task that is parked, failed or cancelled, or was terminated, and of runs whose worker was lost and came back.
Nobody has accepted it: the new task starts from the same base, and all of the work is judged with what is added.
fleet task <id> diff --run <n> shows it as a patch.`,
  examples: [
    'fleet task add-health-k3x9qa work',
    'fleet task add-health-k3x9qa work --branch half-done',
    `fleet task add-health-k3x9qa work --continue --objective 'Finish the endpoint'`,
  ],
  async run(cli, { args: [id = ''], flags }) {
    if (!flags.continue && (flags.objective !== undefined || flags.id !== undefined))
      throw wrongInput('--objective and --id are of the new task: give --continue as well');
    const fleet = await cli.fleet();
    if (flags.continue) return goOn(cli, fleet, { ...flags, of: id });
    const { branch, run: n } = flags;
    if (branch === undefined) return show(cli, await fleet.saved.list(id), { id, n });
    const { runId, commit } = await fleet.saved.branch(id, { branch, n });
    cli.print(
      { id, runId, branch, commit },
      () => `branch ${branch} is at ${commit.slice(0, 12)}, the work of run ${runId}`,
    );
  },
});

async function goOn(
  cli: Cli,
  fleet: Fleet,
  { of, id, run, branch: name, objective }: Flags & { of: string },
): Promise<void> {
  const { input, branch, n } = await fleet.saved.continuation(of, { n: run, branch: name, objective });
  // All that is wrong with it is said before there is a branch.
  await inFlags(() => fleet.admit([{ input, id }]));
  const { runId, commit } = await fleet.saved.branch(of, { branch, n });
  const [made] = await inFlags(() => fleet.enqueueAll([{ input: { ...input, continueFrom: branch }, id }]));
  cli.print({ id: made!.id, runId, branch, commit }, () => made!.id);
  cli.note(`it goes on from branch ${branch}, the work of run ${runId}`);
}

function show(cli: Cli, there: readonly SavedThere[], { id, n }: { id: string; n: number | undefined }): void {
  const rows = there.flatMap(({ worker, runs }) => runs.map((run) => ({ worker, ...run })));
  const shown = rows.filter((run) => n === undefined || run.n === n).sort((a, b) => b.n - a.n);
  const unknown = there.filter(({ why }) => why !== undefined).map(({ worker, why }) => ({ worker, why }));
  cli.print({ id, saved: shown, unknown }, () =>
    shown.length > 0
      ? table(
          ['run', 'worker', 'coder', 'saved', 'files', 'lines', 'session', 'commit'],
          shown.map(({ runId, worker, coder, at, files, insertions, deletions, session, commit }) => [
            ...[runId, oneLine(worker, 30), oneLine(coder, 20), `${formatDuration(Date.now() - Date.parse(at))} ago`],
            ...[String(files), `+${insertions} -${deletions}`, session ? 'yes' : '', commit.slice(0, 12)],
          ]),
        )
      : `there is no saved work of ${n === undefined ? `task ${id}` : `run ${n} of task ${id}`}`,
  );
  for (const { why } of unknown) cli.note(oneLine(`${why}`, 300));
}
