import { chmod, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeText } from '../../adapters/disk/json-file.ts';
import { LaunchAgents } from '../../adapters/service/launchd.ts';
import { FleetError, alreadyExists } from '../../domain/error.ts';
import { launchLabel } from '../../domain/service/names.ts';
import { isOurs, startScript } from '../../domain/service/start-script.ts';
import { shownAs, type Done, type Planned, type ServiceOptions } from './install.ts';

/** @throws FleetError (2) where the label is somebody else's, (1) where launchd does not take it */
export async function installLaunchd(plan: Planned, { env }: ServiceOptions): Promise<Done> {
  const agents = new LaunchAgents(env);
  const { unit, start, notes } = plan;
  const label = launchLabel(unit);
  const file = agents.fileOf(label);
  const log = LaunchAgents.logOf(env, unit);
  const before = await readFile(file, 'utf8').catch(() => undefined);
  if (before !== undefined && !isOurs(before))
    throw alreadyExists(`${file} is somebody else's: give this one another name, --name <name>`);
  for (const folder of [dirname(start.path), dirname(file), dirname(log)])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeText(start.path, startScript(start.of, '/bin/bash'));
  await chmod(start.path, 0o700);
  await writeText(file, shownAs.launchd(plan, env));
  // A plist is read when it is loaded.
  if (await agents.state(label)) await agents.unload(label);
  const { code, err } = await agents.load(label);
  if (code !== 0)
    throw new FleetError('failed', `launchctl bootstrap failed: ${err.split('\n', 1)[0] || 'launchctl is not here'}`, {
      hint: `log in to this Mac's desktop as this user once, as a LaunchAgent belongs to such a session`,
    });
  return { unit, file, updated: before !== undefined, lingers: false, logs: `tail -f ${log}`, notes };
}
