import { FleetError, type Fleet, type TaskReport } from '../../client.ts';
import { isThere } from '../../domain/policy.ts';
import { command, type Command, type Flag } from '../command.ts';

/** What a person does to a task: cancel, retry, accept, give up. */
interface Deed {
  name: string;
  about: string;
  why?: 'optional' | 'required';
  done: string | ((report: TaskReport) => string);
  act(fleet: Fleet, id: string, why: string): Promise<void>;
}

const deed = ({ name, about, why, done, act }: Deed): Command =>
  command<{ why?: string }>({
    name: `task ${name}`,
    about,
    args: '<id>',
    flags: why ? [whyFlag(why)] : [],
    examples: [`fleet task add-health-k3x9qa ${name}${why === 'required' ? ` --why 'checked by hand'` : ''}`],
    async run(cli, { args, flags }) {
      const [id] = args as [string];
      if (why === 'required' && !flags.why?.trim()) {
        throw new FleetError(`--why is required: it is kept with the task, as a person's word stands in for evidence`, {
          exitCode: 2,
        });
      }
      const fleet = await cli.fleet();
      await act(fleet, id, flags.why?.trim() ?? '');
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
  about: 'stop its agent and close it as cancelled; several: fleet cancel',
  done: 'is being cancelled',
  act: (fleet, id) => fleet.cancel(id),
});
export const taskRetry = deed({
  name: 'retry',
  about: 'of a parked task: try again, its attempts counted from zero',
  why: 'optional',
  done: againFrom,
  act: (fleet, id, why) => fleet.retry(id, why),
});
export const taskAccept = deed({
  name: 'accept',
  about: "of a parked task: deliver what was rejected, on a person's word",
  why: 'required',
  done: 'is accepted',
  act: (fleet, id, why) => fleet.accept(id, why),
});
export const taskGiveUp = deed({
  name: 'give-up',
  about: 'of a parked task: close it as failed',
  why: 'optional',
  done: 'is given up',
  act: (fleet, id, why) => fleet.giveUp(id, why),
});
