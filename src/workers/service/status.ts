import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LaunchAgents } from '../../adapters/service/launchd.ts';
import { UserManager } from '../../adapters/service/systemd.ts';
import { launchLabel } from '../../domain/service/names.ts';
import { isOurs } from '../../domain/service/start-script.ts';

/** A service of this user that runs a worker. */
export interface Service {
  unit: string;
  file: string;
  /** Its start script. */
  start: string;
  /** `active`, `activating`, `failed`, `inactive`, or `unknown` where its manager does not answer. */
  state: string;
  pid: number | null;
  /** How often it was started anew since it was last started by a person or with the machine. */
  restarts: number;
  /** Null: does not apply here. */
  lingers: boolean | null;
  /** ISO or as the manager says it; null where it does not run. */
  since: string | null;
  logs: string;
  /** What is wrong with it, with what to do, a sentence each. */
  wrong: string[];
}

/** @param on the kind of system: `darwin`, else systemd's */
export function findServices(env: NodeJS.ProcessEnv, on: NodeJS.Platform = process.platform): Promise<Service[]> {
  return on === 'darwin' ? launchdServices(env) : systemdServices(env);
}

async function systemdServices(env: NodeJS.ProcessEnv): Promise<Service[]> {
  const manager = new UserManager(env);
  const away = await manager.away();
  const services: Service[] = [];
  for (const { file, text } of await oursIn(manager.folder, '.service')) {
    const unit = basename(file, '.service');
    const start =
      /^ExecStart="(.*)"$/m.exec(text)?.[1]?.replace(/\\(.)/g, '$1').replaceAll('%%', '%').replaceAll('$$', '$') ?? '';
    const known: Record<string, string> = away === undefined ? await manager.show(unit) : {};
    const state = known['ActiveState'] ?? 'unknown';
    const lingers = manager.lingers();
    const wrong = [
      ...(away === undefined ? [] : [`no systemd of this user answers here (${away})`]),
      ...goneParts(start, await readFile(start, 'utf8').catch(() => '')),
      ...(state === 'failed'
        ? [`it failed with exit code ${known['ExecMainStatus']}: journalctl --user -u ${unit}`]
        : []),
      ...(lingers ? [] : ['it ends when you log out: loginctl enable-linger']),
    ];
    services.push({
      ...{ unit, file, start, state, lingers, wrong },
      pid: Number(known['MainPID']) || null,
      restarts: Number(known['NRestarts'] ?? 0),
      since: (state === 'active' && known['ActiveEnterTimestamp']) || null,
      logs: `journalctl --user -u ${unit}`,
    });
  }
  return services;
}

async function launchdServices(env: NodeJS.ProcessEnv): Promise<Service[]> {
  const agents = new LaunchAgents(env);
  const folder = join(env['HOME'] ?? '/', 'Library/LaunchAgents');
  const services: Service[] = [];
  for (const { file, text } of await oursIn(folder, '.plist')) {
    const start = /<array>\s*<string>(.*)<\/string>/.exec(text)?.[1] ?? '';
    const unit = basename(start, '.sh');
    const known = await agents.state(launchLabel(unit));
    const state = known?.state === 'running' ? 'active' : 'inactive';
    const failed = known?.exitCode ? [`it ended with exit code ${known.exitCode}`] : [];
    services.push({
      ...{ unit, file, start, state, pid: known?.pid ?? null, restarts: 0, lingers: null, since: null },
      logs: `tail -f ${LaunchAgents.logOf(env, unit)}`,
      wrong: [...goneParts(start, await readFile(start, 'utf8').catch(() => '')), ...failed],
    });
  }
  return services;
}

async function oursIn(folder: string, ending: string): Promise<{ file: string; text: string }[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(ending)).toSorted();
  const found: { file: string; text: string }[] = [];
  for (const name of names) {
    const file = join(folder, name);
    const text = await readFile(file, 'utf8').catch(() => '');
    if (isOurs(text)) found.push({ file, text });
  }
  return found;
}

const AGAIN = 'fleet worker install again, or fleet worker uninstall';

/** A home that was moved, a node or a package that was removed. */
function goneParts(start: string, script: string): string[] {
  if (script === '') return [`its start script ${start} is gone, as where its home was moved: ${AGAIN}`];
  const words = /^exec (\S+) --max-semi-space-size=2 (\S+)/m.exec(script)?.slice(1) ?? [];
  return words
    .map((word) => word.replace(/^'(.*)'$/, '$1'))
    .filter((path) => !existsSync(path))
    .map((path) => `${path} is gone: ${AGAIN}`);
}
