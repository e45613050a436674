import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { LaunchAgents } from '../../adapters/service/launchd.ts';
import { UserManager } from '../../adapters/service/systemd.ts';
import { FleetError, notFound } from '../../domain/error.ts';
import { launchLabel, unitName } from '../../domain/service/names.ts';
import { turnedLingerOn } from '../../domain/service/start-script.ts';
import { findServices, type Service } from './status.ts';

export interface Removed {
  unit: string;
  /** Lingering was turned off again. */
  lingerOff: boolean;
  /** The worker's home, which stays. */
  home: string;
}

/**
 * Ends the worker and takes its service away; its home stays.
 * @param now its agents are stopped, and their work saved, in place of a drain
 * @throws FleetError (2) where there is no such service
 */
export async function uninstall(
  env: NodeJS.ProcessEnv,
  {
    name,
    now,
    say,
    on = process.platform,
  }: { name?: string | undefined; now: boolean; say(line: string): void; on?: NodeJS.Platform },
): Promise<Removed> {
  const unit = unitName(name);
  const services = await findServices(env, on);
  const service = services.find((one) => one.unit === unit);
  if (!service) throw noSuch(unit, services);
  const script = await readFile(service.start, 'utf8').catch(() => '');
  if (service.state === 'active' && !now) say(`${unit} ends when its runs are finished; --now stops them`);
  if (on === 'darwin') await endLaunchd(env, { service, now });
  else await endSystemd(env, { service, now });
  await rm(service.file, { force: true });
  await rm(service.start, { force: true });
  await rmdir(dirname(service.start)).catch(() => undefined);
  if (on === 'darwin') return { unit, lingerOff: false, home: dirname(dirname(service.start)) };
  const manager = new UserManager(env);
  await manager.run(['daemon-reload']);
  await manager.run(['reset-failed', `${unit}.service`]);
  const lingerOff = turnedLingerOn(script) && (await isLast(manager));
  if (lingerOff) await manager.lingerNoMore();
  return { unit, lingerOff, home: dirname(dirname(service.start)) };
}

function noSuch(unit: string, services: readonly Service[]): FleetError {
  const others = services.map((one) => one.unit).join(', ');
  return notFound(`${unit} is not installed here${others ? `: there is ${others} (--name)` : ''}`);
}

async function endSystemd(env: NodeJS.ProcessEnv, { service, now }: { service: Service; now: boolean }): Promise<void> {
  const manager = new UserManager(env);
  const unit = `${service.unit}.service`;
  if (service.state === 'unknown') return;
  await manager.run(['disable', unit]);
  if (now) {
    await manager.run(['--no-block', 'stop', unit]);
    // The first TERM lets runs finish, the second stops them.
    await manager.run(['kill', '--kill-who=main', '--signal=TERM', unit]);
  }
  const { code, err } = await manager.run(['stop', unit], Infinity);
  if (code !== 0) throw new FleetError('failed', `systemctl --user stop ${unit} failed: ${err.split('\n', 1)[0]}`);
}

async function endLaunchd(env: NodeJS.ProcessEnv, { service, now }: { service: Service; now: boolean }): Promise<void> {
  const agents = new LaunchAgents(env);
  const label = launchLabel(service.unit);
  if (!(await agents.state(label))) return;
  if (now) await agents.signal(label, 'SIGTERM');
  await agents.unload(label);
}

/** Lingering is for all services of a user. */
async function isLast(manager: UserManager): Promise<boolean> {
  const names = await readdir(manager.folder).catch(() => []);
  return names.every((name) => !name.endsWith('.service') || basename(name).startsWith('.'));
}
