import { realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { PACKAGE_ROOT } from '../../package.ts';
import { real, within } from '../paths.ts';

/** What only root can write: to be sealed where we are root. */
const SYSTEM = '/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /etc /boot /sys'.split(' ');

/**
 * Folders with the programs that the worker itself and its commands run: the system's, those in its PATH, node's with its
 * prefix, and this product's. None that holds the user's HOME, as logins are kept there, unless it is one of the system's.
 */
export function systemFolders(env: NodeJS.ProcessEnv): string[] {
  const home = real([env['HOME'] ?? ''])[0];
  const node = realpathSync(process.execPath);
  const own = [...(env['PATH'] ?? '').split(':').filter(isAbsolute), dirname(node), dirname(dirname(node)), product()];
  const folders = real(own).filter((path) => home === undefined || !within(path, home));
  return [...real(process.getuid?.() === 0 ? SYSTEM : []), ...folders].filter(
    (path) => !['/', '/tmp', '/var/tmp'].includes(path) && statSync(path).isDirectory(),
  );
}

/** With the packages beside it, where it is installed as one. */
function product(): string {
  const at = PACKAGE_ROOT.indexOf('/node_modules/');
  return at === -1 ? PACKAGE_ROOT : PACKAGE_ROOT.slice(0, at + '/node_modules'.length);
}
