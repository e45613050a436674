import type { Fleet, TaskReport } from '../../../client.ts';
import { wrongInput } from '../../../domain/error.ts';
import { isThere } from '../../../domain/view/decide.ts';
import { command, type Command, type Flag } from '../../command.ts';
import { whoami } from '../worker/worker-orders.ts';

/** What a person does to a task: cancel, retry, accept, give up. */
interface Deed {
  name: string;
  why?: 'optional' | 'required';
  done: string | ((report: TaskReport) => string);
  act(fleet: Fleet, id: string, said: { why: string; by: string }): Promise<void>;
}

const deed = ({ name, why, done, act }: Deed): Command =>
  command<{ why?: string }>({
    flags: why ? [whyFlag(why)] : [],
    examples: [`fleet task add-health-k3x9qa ${name}${why === 'required' ? ` --why 'checked by hand'` : ''}`],
    async run(cli, { args, flags }) {
      const [id] = args as [string];
      if (why === 'required' && !flags.why?.trim()) {
        throw wrongInput(`--why is required: it is kept with the task, as a person's word stands in for evidence`);
      }
      const fleet = await cli.fleet();
      await act(fleet, id, { why: flags.why?.trim() ?? '', by: whoami(cli.env) });
      const said = typeof done === 'string' ? done : done(await fleet.view(id));
      cli.print({ id, [name]: true }, () => `task ${id} ${said}`);
    },
  });

/** A retry goes on from saved work, unless that was removed. */
function againFrom({ runs }: TaskReport): string {
  const gone = runs.findLast(({ endedAt }) => endedAt !== null);
  if (!gone?.savedGone || isThere(gone)) return 'is queued again';
  return `is queued again, and starts from the base: the saved work of run ${gone.runId} was removed at ${gone.savedGone}`;
}

const whyFlag = (why: 'optional' | 'required'): Flag => ({
  flag: '--why <why>',
  about: why === 'required' ? 'kept with the task; required' : 'kept with the task',
});

export const taskCancel = deed({
  name: 'cancel',
  done: 'is being cancelled',
  act: (fleet, id) => fleet.cancel(id),
});
export const taskRetry = deed({
  name: 'retry',
  why: 'optional',
  done: againFrom,
  act: (fleet, id, { why, by }) => fleet.retry(id, why, by),
});
export const taskAccept = deed({
  name: 'accept',
  why: 'required',
  done: 'is accepted',
  act: (fleet, id, { why, by }) => fleet.accept(id, why, by),
});
export const taskGiveUp = deed({
  name: 'give-up',
  why: 'optional',
  done: 'is given up',
  act: (fleet, id, { why, by }) => fleet.giveUp(id, why, by),
});
