import { accessSync, constants } from 'node:fs';

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin';

/** The system's own program of that name, or the one that was unpacked into the home: never one of the agent's PATH. */
export function systemProgram(name: string, home?: string): string {
  const folders = [...SYSTEM_PATH.split(':'), ...(home === undefined ? [] : [`${home}/bin`])];
  for (const folder of folders) {
    try {
      accessSync(`${folder}/${name}`, constants.X_OK);
      return `${folder}/${name}`;
    } catch {}
  }
  throw new Error(`${name} is missing in ${SYSTEM_PATH}`);
}
