import { cronLine, isTime } from '../../../domain/service/cron-line.ts';
import { secretsIn } from '../../../domain/service/start-script.ts';
import { wrongInput } from '../../../domain/error.ts';
import { command, durationMs, oneOf, whole, InvalidValue, type Cli } from '../../command.ts';
import { oneLine, painter } from '../../output/text.ts';
import { table } from '../../output/table.ts';
import type { Planned, ServiceOptions } from '../../../workers/service/install.ts';

interface InstallFlags {
  name?: string;
  slots?: number;
  queue?: string[];
  envSetup?: string;
  onStop?: 'drain' | 'hand-over';
  print?: 'systemd' | 'launchd' | 'cron';
  at?: string;
  for?: number;
}

const time = (text: string): string | InvalidValue =>
  isTime(text) ? text : new InvalidValue('must be a time such as 22:30');

export const workerInstall = command<InstallFlags>({
  flags: [
    { flag: '--name <name>', about: 'of the worker, where this machine has several, each with a home of its own' },
    { flag: '--slots <n>', about: 'runs at a time (default: worker.slots)', parse: whole },
    { flag: '--queue <queue>', about: 'claim from this queue; repeatable (default: worker.queues)', many: true },
    { flag: '--env-setup <script>', about: 'read by the shell before the worker starts, each time' },
    {
      flag: '--on-stop <how>',
      about: 'drain: let runs finish; hand-over: leave agents to the next worker here (default: drain)',
      parse: oneOf(['drain', 'hand-over'] as const),
    },
    {
      flag: '--print <what>',
      about: 'install nothing: print the systemd unit, the launchd plist, or a line for cron',
      parse: oneOf(['systemd', 'launchd', 'cron'] as const),
    },
    { flag: '--at <time>', about: 'with --print cron: when the night begins (default: 22:00)', parse: time },
    {
      flag: '--for <duration>',
      about: 'with --print cron: how long it takes new work (default: 8h)',
      parse: durationMs,
    },
  ],
  notes: `A service of this user: by systemd on Linux, as a LaunchAgent on macOS. It is started with the machine, and again when it
failed; PATH, FLEET_* and TEMPORAL_* are as they are now, in a file that only you can read. Again, it is updated. More: docs/machines.md.`,
  examples: [
    'fleet worker install --slots 4',
    'fleet worker install --env-setup ~/agents.env',
    'fleet worker install --print cron --at 22:00 --for 9h',
  ],
  async run(cli, { flags }) {
    if (flags.print !== 'cron' && (flags.at ?? flags.for) !== undefined)
      throw wrongInput(`${flags.at === undefined ? '--for' : '--at'} needs --print cron`);
    const { planService, installSystemd } = await import('../../../workers/service/install.ts');
    const options = optionsOf(cli, flags);
    const plan = planService(options);
    if (flags.print) return print(cli, { plan, options, flags, print: flags.print });
    const { installLaunchd } = await import('../../../workers/service/install-launchd.ts');
    const done = await (process.platform === 'darwin' ? installLaunchd : installSystemd)(plan, options);
    cli.print(done, () =>
      [
        `${done.unit} is ${done.updated ? 'updated' : 'installed'}: worker ${plan.name}, ${done.file}`,
        `what it says: ${done.logs}; whether it is attached: fleet workers`,
      ].join('\n'),
    );
    for (const note of done.notes) cli.note(note);
  },
});

function optionsOf(cli: Cli, { name, slots, queue, envSetup, onStop = 'drain' }: InstallFlags): ServiceOptions {
  const { env, home, cwd } = cli;
  // What the worker would not start with is said now.
  const config = cli.config({ worker: { name, slots, queues: queue } });
  const flags = [
    ...(slots === undefined ? [] : ['--slots', String(slots)]),
    ...(queue ?? []).flatMap((one) => ['--queue', one]),
  ];
  return { env, home, cwd, config, name, flags, envSetup, onStop };
}

interface Printed {
  plan: Planned;
  options: ServiceOptions;
  flags: InstallFlags;
  print: 'systemd' | 'launchd' | 'cron';
}

const NIGHT_MS = 8 * 3_600_000;

async function print(cli: Cli, { plan, options, flags, print: what }: Printed): Promise<void> {
  const { shownAs } = await import('../../../workers/service/install.ts');
  const secrets = secretsIn(plan.start.of.env);
  const open = Object.fromEntries(Object.entries(plan.start.of.env).filter(([name]) => !secrets.includes(name)));
  const text = {
    systemd: () => shownAs.systemd(plan, options.home),
    launchd: () => shownAs.launchd(plan, options.env),
    cron: () =>
      cronLine(
        { ...plan.start.of, env: open },
        { at: flags.at ?? '22:00', seconds: Math.round((flags.for ?? NIGHT_MS) / 1_000) },
      ),
  }[what]();
  cli.print({ [what]: text }, () => text.trimEnd());
  if (what === 'cron' && secrets.length > 0)
    cli.note(`${secrets.join(', ')} is not in the line: set it in a file and give that by --env-setup`);
  for (const note of plan.notes) cli.note(note);
}

export const workerStatus = command({
  examples: ['fleet worker status', 'fleet worker status --json'],
  notes:
    'Of the services on this machine; exits 1 where one does not run. Who is attached to the fleet: fleet workers.',
  async run(cli) {
    const { findServices } = await import('../../../workers/service/status.ts');
    const services = await findServices(cli.env);
    const paint = painter(cli);
    cli.print(services, () =>
      services.length === 0
        ? 'no worker is installed as a service here: fleet worker install'
        : table(
            ['service', 'state', 'pid', 'restarts', 'since', 'logs'],
            services.map(({ unit, state, pid, restarts, since, logs }) => [
              ...[unit, state === 'active' ? state : paint('red', state), String(pid ?? '')],
              ...[String(restarts || ''), since ?? '', logs],
            ]),
          ),
    );
    for (const { unit, wrong: said } of services) for (const one of said) cli.note(oneLine(`${unit}: ${one}`, 300));
    return services.length > 0 && services.every(({ state }) => state === 'active') ? 0 : 1;
  },
});

export const workerUninstall = command<{ name?: string; now?: boolean }>({
  flags: [
    { flag: '--name <name>', about: 'as it was installed' },
    { flag: '--now', about: 'stop its agents, their work saved, in place of letting runs finish' },
  ],
  examples: ['fleet worker uninstall', 'fleet worker uninstall --name build-7 --now'],
  notes: 'Its home stays, with saved work and receipts.',
  async run(cli, { flags: { name, now = false } }) {
    const { uninstall } = await import('../../../workers/service/uninstall.ts');
    const removed = await uninstall(cli.env, { name, now, say: cli.note });
    cli.print(removed, () =>
      [
        `${removed.unit} is gone${removed.lingerOff ? ', and lingering is off again' : ''}`,
        `its home stays: rm -r ${removed.home} removes saved work and receipts too`,
      ].join('\n'),
    );
  },
});
