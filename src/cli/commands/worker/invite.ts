import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet, FleetWorker } from '../../../client.ts';
import { formatBytes } from '../../../domain/values/bytes.ts';
import { formatDuration } from '../../../domain/values/duration.ts';
import { FleetError, wrongInput } from '../../../domain/error.ts';
import { coderText } from '../../../domain/worker/worker.ts';
import { quoted } from '../../../domain/service/start-script.ts';
import { isServiceName } from '../../../domain/service/names.ts';
import { command, durationMs, InvalidValue, type Cli } from '../../command.ts';
import { oneLine } from '../../output/text.ts';
import { whoami } from './worker-orders.ts';

interface Flags {
  queue?: string[];
  address?: string;
  wait?: boolean;
  timeout?: number;
}

const WAIT_MS = 30 * 60_000;
const LOOK_MS = 1_000;

const hostAndPort = (text: string): string | InvalidValue =>
  /^(\[[0-9a-f:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/i.test(text) ? text : new InvalidValue('must be host:port');

export const invite = command<Flags>({
  flags: [
    { flag: '--queue <queue>', about: 'that it claims from; repeatable (default: worker.queues here)', many: true },
    {
      flag: '--address <host:port>',
      about: 'by which that machine reaches the server (default: as this one does)',
      parse: hostAndPort,
    },
    { flag: '--wait', about: 'until its worker is heard of' },
    { flag: '--timeout <duration>', about: 'with --wait: the longest (default: 30m)', parse: durationMs },
  ],
  notes: `Writes a script with this package and this machine's way to the server, keys included, and prints the command that runs it
there: it installs below ~/.fleet, starts a service (fleet worker install), and ends with fleet doctor. That machine needs node, npm and
git, and a registry for npm. Flags for fleet worker install go behind "sh -s --". More: docs/machines.md.`,
  examples: ['fleet invite build-7 --wait', 'fleet invite build-7 --queue nightly --address fleet.example.com:7233'],
  async run(cli, { args: [name = ''], flags }) {
    if (!isServiceName(name))
      throw wrongInput(`name must be letters, digits, ".", "_" and "-", 40 at most, not ${JSON.stringify(name)}`);
    if (flags.timeout !== undefined && !flags.wait) throw wrongInput('--timeout needs --wait');
    const { invite: write } = await import('../../../workers/service/invite.ts');
    const config = cli.config({ worker: { queues: flags.queue } });
    const fleet = await cli.fleet();
    const before = await attachedAs(fleet, name);
    const by = whoami(cli.env);
    const of = { env: cli.env, home: cli.home, name, queues: config.worker.queues, by };
    const { file, bytes, address, secrets, guarded } = await write({ ...of, address: flags.address });
    const commands = {
      there: `ssh ${by} cat ${quoted(file)} | sh`,
      here: `ssh ${name} sh < ${quoted(file)}`,
      file: `sh ${name}.sh`,
    };
    cli.print({ name, file, bytes, address, queues: of.queues, secrets, commands }, () => commands.there);
    cli.note(`to be typed on ${name}; or here: ${commands.here}; or carry the file there: ${commands.file}`);
    const holds = secrets.length > 0 ? `, which holds ${secrets.join(' and ')}` : '';
    cli.note(`${file} (${formatBytes(bytes)})${holds} is for you alone: remove it afterwards`);
    if (!guarded) cli.note(`whoever reaches ${address} can have agents run: that server asks for no key`);
    if (flags.wait) await heardOf(cli, { fleet, name, before, timeoutMs: flags.timeout ?? WAIT_MS });
  },
});

/** Those attached by that name, each with when it did. */
async function attachedAs(fleet: Fleet, name: string): Promise<FleetWorker[]> {
  return (await fleet.workers()).filter((worker) => worker.name === name && fleet.isAttached(worker));
}

interface Awaited {
  fleet: Fleet;
  name: string;
  before: readonly FleetWorker[];
  timeoutMs: number;
}

async function heardOf(cli: Cli, { fleet, name, before, timeoutMs }: Awaited): Promise<void> {
  const known = new Set(before.map(keyOf));
  const stop = new AbortController();
  using _ = cli.onSignal(() => stop.abort());
  cli.note(`waiting for worker ${name}`);
  const until = performance.now() + timeoutMs;
  while (!stop.signal.aborted) {
    const now = (await attachedAs(fleet, name)).find((worker) => !known.has(keyOf(worker)) && worker.heardAt !== null);
    if (now) return said(cli, now);
    if (performance.now() > until)
      throw new FleetError('timeout', `no worker ${name} was heard of within ${formatDuration(timeoutMs)}`, {
        hint: 'what the command said there says why; fleet workers lists those that are attached',
      });
    await pause(LOOK_MS, undefined, { signal: stop.signal }).catch(() => undefined);
  }
  throw new FleetError('not-ready', `worker ${name} was not waited for any longer`);
}

const keyOf = ({ hostQueue, since }: FleetWorker): string => `${hostQueue} ${since}`;

function said(cli: Cli, { name, machine, slots, coders, heardAt }: FleetWorker): void {
  const has = coders.length > 0 ? coders.map(coderText).join(', ') : 'no coder found';
  cli.print({ attached: { name, machine, slots, coders, heardAt } }, () =>
    oneLine(`worker ${name} is attached on machine ${machine}: ${slots} slots, ${has}`),
  );
}
