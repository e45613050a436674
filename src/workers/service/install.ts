import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeText } from '../../adapters/disk/json-file.ts';
import { LaunchAgents } from '../../adapters/service/launchd.ts';
import { UserManager } from '../../adapters/service/systemd.ts';
import type { Config } from '../../config.ts';
import { parseDuration } from '../../domain/values/duration.ts';
import { FleetError, wrongInput, notFound, alreadyExists } from '../../domain/error.ts';
import { homeLayout } from '../../domain/names.ts';
import { launchLabel, unitName } from '../../domain/service/names.ts';
import { isOurs, startScript, turnedLingerOn, type StartScript } from '../../domain/service/start-script.ts';
import { systemdUnit } from '../../domain/service/systemd-unit.ts';
import { launchAgent } from '../../domain/service/launch-agent.ts';
import { builtFile } from '../../package.ts';
import { environmentFor, passingPaths } from './environment.ts';

/** A worker that the machine's own service manager starts, and starts again. */

export interface ServiceOptions {
  env: NodeJS.ProcessEnv;
  home: string;
  cwd: string;
  config: Config;
  /** The name of the service and of its worker, as `config` has checked it; default: one without a name. */
  name?: string | undefined;
  /** Further flags of `fleet worker`. */
  flags: readonly string[];
  envSetup?: string | undefined;
  onStop: 'drain' | 'hand-over';
}

/** All that is written, and where. */
export interface Planned {
  unit: string;
  start: { path: string; of: StartScript };
  stopSeconds: number;
  /** The worker's. */
  name: string;
  notes: string[];
}

/** A stop without a drain: the agents' work is saved, nothing is waited for. */
const HAND_OVER_S = 90;
/** Beside the runs: results are delivered. */
const SLACK_S = 300;

/** @throws FleetError (2) */
export function planService({ env, home, cwd, config, name, flags, envSetup, onStop }: ServiceOptions): Planned {
  const setup = envSetup === undefined ? undefined : resolve(cwd, envSetup);
  if (setup !== undefined) checkScript(setup, envSetup!);
  const unit = unitName(name);
  const main = builtFile('cli/main.js');
  const args = ['worker', ...(name === undefined ? [] : ['--name', name]), ...flags];
  const own = { ...environmentFor(env, home), FLEET_WORKER_ON_TERM: onStop };
  const { total = '2h', verify = '15m' } = config.limits;
  const longest = Math.ceil(((parseDuration(total) ?? 0) + (parseDuration(verify) ?? 0)) / 1_000) + SLACK_S;
  return {
    ...{ unit, name: name ?? config.worker.name, stopSeconds: onStop === 'drain' ? longest : HAND_OVER_S },
    start: {
      path: join(homeLayout(home).root, 'service', `${unit}.sh`),
      of: { unit, node: process.execPath, main, args, env: own, envSetup: setup },
    },
    notes: passingPaths({ node: process.execPath, main }),
  };
}

function checkScript(path: string, shown: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw notFound(`--env-setup ${shown} does not exist`);
  if (!found.isFile()) throw wrongInput(`--env-setup ${shown} is no file`);
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw wrongInput(`--env-setup ${shown} is not open to this user`);
  }
}

/** As its text stands on a system of that kind. */
export const shownAs = {
  systemd: (plan: Planned, home: string): string =>
    systemdUnit({ name: plan.name, start: plan.start.path, home, stopSeconds: plan.stopSeconds }),
  launchd: ({ unit, start, stopSeconds }: Planned, env: NodeJS.ProcessEnv): string =>
    launchAgent({ label: launchLabel(unit), start: start.path, log: LaunchAgents.logOf(env, unit), stopSeconds }),
};

export interface Done {
  unit: string;
  /** The file that the service manager reads. */
  file: string;
  /** It was there before. */
  updated: boolean;
  lingers: boolean;
  /** How to read what it says. */
  logs: string;
  notes: string[];
}

/** @throws FleetError (2) where the name is somebody else's, (1) where there is no service manager or the worker cannot be started */
export async function installSystemd(plan: Planned, { env, home }: ServiceOptions): Promise<Done> {
  const manager = new UserManager(env);
  const { unit, start } = plan;
  const file = join(manager.folder, `${unit}.service`);
  // 1. Nothing is written before it is known that all of it can be.
  const lingered = manager.lingers();
  const noLinger = lingered ? undefined : await manager.letLinger();
  const away = await manager.away();
  if (away !== undefined) throw noManager(away);
  const before = await refuseTaken(manager, { unit, file });
  await refuseSharedHome(start.path, home);
  // 2. The start script, then the unit.
  await mkdir(join(start.path, '..'), { recursive: true, mode: 0o700 });
  await mkdir(manager.folder, { recursive: true });
  const old = await readFile(start.path, 'utf8').catch(() => '');
  const ours = (!lingered && noLinger === undefined) || turnedLingerOn(old);
  const script = startScript({ ...start.of, turnedLingerOn: ours }, shellHere());
  const text = shownAs.systemd(plan, home);
  await writeText(start.path, script);
  await chmod(start.path, 0o700);
  await writeText(file, text);
  // 3. A running one ends as it is told to, and the new one adopts what it leaves.
  const running = (await manager.show(unit))['ActiveState'] === 'active';
  const changed = old !== script || before !== text;
  const orders = [['daemon-reload'], ['enable', `${unit}.service`]];
  if (!running) orders.push(['reset-failed', `${unit}.service`], ['start', `${unit}.service`]);
  else if (changed) orders.push(['--no-block', 'restart', `${unit}.service`]);
  for (const order of orders) {
    const { code, err } = await manager.run(order);
    if (code !== 0 && order[0] !== 'reset-failed')
      throw new FleetError('failed', `systemctl --user ${order.join(' ')} failed: ${err.split('\n', 1)[0]}`, {
        hint: `journalctl --user -u ${unit} says more`,
      });
  }
  const notes = [...plan.notes, ...(running ? [] : await firstSteps(manager, unit))];
  if (noLinger !== undefined)
    notes.push(
      `it ends when you log out, and does not start with the machine, as lingering is off (${noLinger}): an administrator turns it on by loginctl enable-linger ${userName(env)}`,
    );
  if (running && changed)
    notes.push('the worker that runs ends first, as systemctl stop would have it, and then starts anew');
  const logs = `journalctl --user -u ${unit}`;
  return { unit, file, updated: before !== undefined, lingers: noLinger === undefined, logs, notes };
}

const userName = (env: NodeJS.ProcessEnv): string => env['USER'] || env['LOGNAME'] || '$USER';
const shellHere = (): string => (existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh');

export const noManager = (why: string): FleetError =>
  new FleetError('unavailable', `no systemd of this user answers here (${why})`, {
    hint: 'fleet worker runs until Ctrl-C; fleet worker install --print cron prints a line for cron',
  });

/** The text that is there, if it is ours. @throws FleetError (2) */
async function refuseTaken(
  manager: UserManager,
  { unit, file }: { unit: string; file: string },
): Promise<string | undefined> {
  const { FragmentPath: path = '' } = await manager.show(unit);
  const at = path && path !== file ? path : file;
  const text = await readFile(at, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  if (!isOurs(text) || at !== file)
    throw alreadyExists(`the unit ${unit} is somebody else's (${at}): give this one another name, --name <name>`);
  return text;
}

/** Two workers in one home would keep each other out. @throws FleetError (2) */
async function refuseSharedHome(start: string, home: string): Promise<void> {
  const names = await readdir(join(start, '..')).catch(() => []);
  const other = names.find((name) => name.endsWith('.sh') && join(start, '..', name) !== start);
  if (other)
    throw wrongInput(
      `${home} is the home of the service ${other.slice(0, -3)}: give this one a home of its own, FLEET_HOME=<folder> fleet worker install --name <name>`,
    );
}

/**
 * How it begins, a sentence where that goes wrong and it is tried again.
 * @throws FleetError (1) where it is not, as with a configuration that is wrong
 */
async function firstSteps(manager: UserManager, unit: string): Promise<string[]> {
  for (let looks = 0; looks < 8; looks += 1) {
    const { ActiveState: state, ExecMainStatus: status } = await manager.show(unit);
    if (state === 'failed' || state === 'activating') {
      const said = (await manager.journal(unit, 3)).findLast((line) => line.startsWith('fleet: '));
      const why = `its worker ended at once (exit code ${status})${said ? `: ${said.slice(7)}` : ''}`;
      if (state === 'activating') return [`${why}; it is started again and again: journalctl --user -u ${unit} -f`];
      throw new FleetError('failed', `${unit} is installed, but ${why}`, {
        hint: `journalctl --user -u ${unit} says why; fleet worker uninstall takes it away`,
      });
    }
    await pause(250);
  }
  return [];
}
