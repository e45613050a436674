import { wrongInput } from '../../../domain/error.ts';
import type { Stopped } from '../../../client.ts';
import { command } from '../../command.ts';
import { WHY, whoami } from './worker-orders.ts';

export const stop = command<{ now?: boolean; why?: string }>({
  flags: [{ flag: '--now', about: 'required: what agents are doing is cut short' }, WHY],
  notes: `Reviewers, setup and acceptance commands end as well. Their tasks are queued again, with their work saved and no
attempt used. Until fleet resume nothing starts, and nothing is delivered or merged.
Gentler: fleet pause lets runs go on; fleet worker drain <name> ends one worker with its last run.`,
  examples: [`fleet stop --now --why 'a key leaked'`],
  async run(cli, { flags }) {
    if (!flags.now) {
      throw wrongInput('fleet stop ends every agent at once and needs --now', {
        hint: 'fleet pause lets runs go on; fleet worker drain <name> ends a worker with its last run',
      });
    }
    const fleet = await cli.fleet();
    const order = await fleet.orders.all({ mode: 'stop', by: whoami(cli.env), why: flags.why?.trim() ?? '' });
    const stopped = await fleet.orders.untilStopped(order);
    cli.print({ ...order, ...stopped }, () => sentence(stopped));
    return stopped.silent.length ? 1 : 0;
  },
});

function sentence({ agents, workers, seconds, silent }: Stopped): string {
  const down = `${agents} agent${agents === 1 ? '' : 's'} of ${workers} worker${workers === 1 ? '' : 's'}`;
  return [
    `${down} ${agents === 1 ? 'is' : 'are'} down, after ${seconds} s; their tasks wait for fleet resume`,
    ...silent.map((name) => `worker ${name} did not answer: without contact its agents end by themselves`),
  ].join('\n');
}
