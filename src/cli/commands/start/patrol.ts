import { wrongInput } from '../../../domain/error.ts';
import { formatDuration } from '../../../domain/values/duration.ts';
import { DEFAULT_QUEUE } from '../../../domain/names.ts';
import type { PatrolRound } from '../../../domain/produce/patrol.ts';
import { command, durationMs } from '../../command.ts';
import { oneLine } from '../../output/text.ts';

interface Flags {
  every?: number;
  off?: boolean;
  queue?: string;
}

/** Rounds that come faster would find nothing new. */
const LEAST_MS = 10_000;

export const patrol = command<Flags>({
  flags: [
    {
      flag: '--every <duration>',
      about: 'from now on, e.g. every 10m, whether or not anybody looks',
      parse: durationMs,
    },
    { flag: '--off', about: 'no more rounds' },
    { flag: '--queue <queue>', about: 'whose workers do it, with their configuration (default: fleet)' },
  ],
  notes: `A round tells of tasks that were parked, wait for a person, give no sign, cannot be claimed, or wait for one that failed: once each, by
the worker's alerts. Thresholds and the backlog are patrol and backlog of its config.yaml. There is never more than one round at a time.`,
  examples: ['fleet patrol', 'fleet patrol --every 10m', 'fleet patrol status', 'fleet patrol --off'],
  async run(cli, { args: [word], flags }) {
    if (word !== undefined) throw wrongInput(`${word} is nothing to do with the patrol: status, --every, --off`);
    if (flags.every !== undefined && flags.off) throw wrongInput('--every and --off cannot be used together');
    if (flags.every !== undefined && flags.every < LEAST_MS) throw wrongInput('--every must be 10s at least');
    const { patrol: rounds } = await cli.fleet();
    if (flags.off) {
      await rounds.off();
      cli.print({ off: true }, () => 'the patrol is off');
    } else if (flags.every !== undefined) {
      const queue = flags.queue ?? DEFAULT_QUEUE;
      await rounds.on({ everyMs: flags.every, queue });
      cli.print(
        { everyMs: flags.every, queue },
        () => `the patrol goes every ${formatDuration(flags.every!)}, on queue ${queue}`,
      );
    } else {
      const round = await rounds.round(flags.queue);
      cli.print(round, () => roundText(round));
    }
  },
});

export const patrolStatus = command({
  examples: ['fleet patrol status'],
  async run(cli) {
    const status = await (await cli.fleet()).patrol.status();
    cli.print(status, () => {
      if (!status) return 'there was no patrol yet: fleet patrol --every 10m begins one';
      const { everyMs, queue, next, running, last } = status;
      const when =
        everyMs === null ? 'the patrol is off' : `every ${formatDuration(everyMs)} on queue ${queue}, next at ${next}`;
      return [
        `${when}${running ? '; a round is under way' : ''}`,
        ...(last ? [`last round at ${last.at}`, roundText(last)] : []),
      ].join('\n');
    });
  },
});

function roundText({ states, free, findings, told, nudged, taken, troubles }: PatrolRound): string {
  const counts = Object.entries(states).map(([state, count]) => `${count} ${state}`);
  return [
    `${counts.length ? counts.join(', ') : 'no open tasks'}; ${free} free slot${free === 1 ? '' : 's'}`,
    ...findings.map(({ key, id, sentence }) =>
      oneLine(`${id} ${sentence}${told.includes(key) ? '' : ' (told before)'}`, 300),
    ),
    ...nudged.map((id) => `${id} is told to look again`),
    ...taken.map(({ id, from }) => oneLine(`${id} is taken from ${from}`, 300)),
    ...troubles.map((said) => oneLine(`trouble: ${said}`, 300)),
  ].join('\n');
}
