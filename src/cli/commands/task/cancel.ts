import type { Fleet } from '../../../client.ts';
import { wrongInput, notFound } from '../../../domain/error.ts';
import { OPEN_STATES, type TaskState } from '../../../domain/task/state.ts';
import { command, oneOf, whole, type Cli } from '../../command.ts';
import { oneLine } from '../../output/text.ts';

interface Flags {
  label?: string[];
  state?: TaskState[];
  most?: number;
  yes?: boolean;
}

/** Tasks at a time, where nothing else is said. */
const MOST = 500;
const SHOWN = 10;

export const cancel = command<Flags>({
  flags: [
    { flag: '--label <label>', about: 'all open tasks with this label; repeatable: with all of them', many: true },
    {
      flag: '--state <state>',
      about: `all tasks in this state: ${OPEN_STATES.join(', ')}; repeatable: in any of them`,
      many: true,
      parse: oneOf(OPEN_STATES),
    },
    { flag: '--most <n>', about: `refuse where it would be more (default: ${MOST})`, parse: whole },
    { flag: '--yes', about: 'do not ask, where it is more than one task' },
  ],
  notes: 'With --label and --state: what has both. A task that has left its state meanwhile is left as it is.',
  examples: [
    'fleet cancel add-health-k3x9qa',
    'fleet cancel add-health-k3x9qa fix-login-7hq2mc --yes',
    'fleet cancel --label web --state queued',
  ],
  async run(cli, { args, flags }) {
    const { label: labels = [], state: states = [], most = MOST } = flags;
    const byFilter = labels.length > 0 || states.length > 0;
    if (byFilter === args.length > 0)
      throw wrongInput(
        byFilter
          ? 'ids cannot be given with --label or --state: name the tasks, or say which'
          : 'say which tasks: give ids, or --label and --state',
      );
    const fleet = await cli.fleet();
    // One more than the bound shows that there are more.
    const ids = byFilter ? await fleet.findOpen({ labels, states }, most + 1) : [...new Set(args)];
    if (ids.length > most) throw wrongInput(`these are more than ${most} tasks: say --most <n>, or name fewer`);
    if (ids.length === 0) {
      cli.print({ cancelled: [], left: [] }, () => 'no open task is like that');
      return 0;
    }
    if (!byFilter) await refuseUnknown(fleet, ids);
    if (ids.length > 1 && !flags.yes && !(await agreed(cli, ids))) return 1;
    const all = await fleet.cancelMany(ids, { states });
    const left = all.filter(({ why }) => why !== undefined);
    const cancelled = all.flatMap(({ id, why }) => (why === undefined ? id : []));
    cli.print({ cancelled, left }, () => cancelled.map((id) => `task ${id} is being cancelled`).join('\n'));
    for (const { why } of left) cli.note(oneLine(why ?? ''));
    return byFilter || left.length === 0 ? 0 : 2;
  },
});

/** All are known before any is cancelled. @throws FleetError (2) */
async function refuseUnknown(fleet: Fleet, ids: readonly string[]): Promise<void> {
  const known = await fleet.standing(ids);
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw notFound(`there is no task ${unknown.join(', ')}`);
}

async function agreed(cli: Cli, ids: readonly string[]): Promise<boolean> {
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : '';
  cli.note(oneLine(`${ids.slice(0, SHOWN).join(', ')}${more}`));
  const yes = await cli.agreed(`cancel these ${ids.length} tasks? [y/N] `);
  if (yes === undefined) throw wrongInput(`these are ${ids.length} tasks, and there is nobody to ask: say --yes`);
  if (!yes) cli.note('nothing is cancelled');
  return yes;
}
