import { accessSync, constants } from 'node:fs';

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin';

/** The system's own program of that name: never one of the agent's PATH. */
export function systemProgram(name: string): string {
  for (const folder of SYSTEM_PATH.split(':')) {
    try {
      accessSync(`${folder}/${name}`, constants.X_OK);
      return `${folder}/${name}`;
    } catch {}
  }
  throw new Error(
    name === 'bwrap' ? 'bwrap is missing: install the package bubblewrap' : `${name} is missing in ${SYSTEM_PATH}`,
  );
}
