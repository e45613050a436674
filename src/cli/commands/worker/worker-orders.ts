import { hostname, userInfo } from 'node:os';
import type { Fleet, FleetWorker } from '../../../client.ts';
import { keptSentences, tallySentence, type FleetOrder } from '../../../domain/worker/worker.ts';
import { rollbackNotes } from '../../output/standing-notes.ts';
import { command, type Cli, type Command, type Flag } from '../../command.ts';
import { oneLine } from '../../output/text.ts';

/** Who gives an order, as it is shown to everybody. */
export function whoami(env: NodeJS.ProcessEnv): string {
  const user = ((): string => {
    try {
      return userInfo().username;
    } catch {
      return env['USER'] ?? 'somebody';
    }
  })();
  return `${user}@${hostname()}`;
}

export const WHY: Flag = { flag: '--why <why>', about: 'shown to everybody who asks' };
const WAIT: Flag = { flag: '--wait', about: 'until the worker has obeyed' };

/** What a person orders one worker, from any machine. */
interface Deed {
  name: 'drain' | 'pause' | 'resume';
  notes: string;
  said: string;
  /** Of a worker that is not attached. */
  absent: string;
}

const deed = ({ name, notes, said, absent }: Deed): Command =>
  command<{ why?: string; wait?: boolean }>({
    flags: name === 'resume' ? [WAIT] : [WHY, WAIT],
    notes: `${notes}\nFrom any machine that reaches Temporal; an order waits for a worker that is not attached.`,
    examples: [`fleet worker ${name} build-7`, `fleet worker ${name} build-7 --wait`],
    async run(cli, { args: [worker], flags }) {
      const fleet = await cli.fleet();
      const by = whoami(cli.env);
      const given =
        name === 'resume'
          ? await fleet.orders.resumeOne(worker!, by)
          : await fleet.orders.one(worker!, { mode: name, by, why: flags.why?.trim() ?? '' });
      if (name === 'resume') for (const note of await rollbackNotes(fleet)) cli.note(note);
      const here = given.workers.filter((each) => fleet.isAttached(each));
      if (!flags.wait || here.length === 0) {
        cli.print({ worker, [name]: true, attached: here.length, order: given.order }, () =>
          [`worker ${worker} ${here.length ? said : absent}`, ...hints(name, given)].join('\n'),
        );
        return;
      }
      return obeyed(cli, { fleet, here, order: given.order, said });
    },
  });

function hints(name: Deed['name'], given: { withdrawn: boolean; fleetOrder: FleetOrder | null }): string[] {
  if (name !== 'resume') return [];
  return [
    ...(given.withdrawn ? [] : ['it had no order of its own']),
    ...(given.fleetOrder ? [`it still obeys the order to all workers: fleet resume`] : []),
  ];
}

async function obeyed(
  cli: Cli,
  awaited: { fleet: Fleet; here: readonly FleetWorker[]; order: FleetOrder | null; said: string },
): Promise<number> {
  const { fleet, here, order, said } = awaited;
  const workers = await fleet.orders.untilObeyed({ hostQueues: here.map(({ hostQueue }) => hostQueue), order });
  cli.print(workers, () =>
    workers
      .flatMap((worker) => outcome(worker, said))
      .map((line) => oneLine(line))
      .join('\n'),
  );
  return workers.some(({ state }) => state === 'lost') ? 1 : 0;
}

function outcome({ name, state, report }: FleetWorker, said: string): string[] {
  if (state === 'lost') return [`worker ${name} was lost meanwhile: the order waits for it`];
  if (state !== 'detached') return [`worker ${name} ${said}`];
  if (!report) return [`worker ${name} has left`];
  return [`worker ${name} has left: ${tallySentence(report)}`, ...keptSentences(report)];
}

export const workerDrain = deed({
  name: 'drain',
  notes: 'It takes no new work, now and when it is started again, until fleet worker resume.',
  said: 'drains: it ends with its last run',
  absent: 'is not attached: the order waits for it',
});
export const workerPause = deed({
  name: 'pause',
  notes: 'Until fleet worker resume.',
  said: 'is paused: its runs go on',
  absent: 'is not attached: the order waits for it',
});
export const workerResume = deed({
  name: 'resume',
  notes: 'An order to all workers stands: fleet resume withdraws that.',
  said: 'takes new work again',
  absent: 'takes new work when it is started next',
});
