import { isAbsolute } from 'node:path';
import { within } from '../adapters/mount-table.ts';

/** What every process that we start may see of the worker's environment. */
const ALLOWED = [
  ...['PATH', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'USER', 'LOGNAME', 'SHELL'],
  ...[
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'http_proxy',
    'https_proxy',
    'no_proxy',
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
    'NODE_EXTRA_CA_CERTS',
  ],
];

/** Of a PATH: its absolute folders that are not inside of one that somebody else writes. */
export const soundPath = (path: string, folders: readonly string[]): string =>
  path
    .split(':')
    .filter((entry) => isAbsolute(entry) && !folders.some((folder) => within(folder, entry)))
    .join(':');

/** The allow-listed environment, the variables named on top of it, and what is set for this process. */
export function environment(
  from: NodeJS.ProcessEnv,
  names: readonly string[],
  set: Record<string, string>,
): Record<string, string> {
  const picked = [...ALLOWED, ...names].flatMap((name) =>
    from[name] === undefined ? [] : [[name, from[name]] as const],
  );
  return { ...Object.fromEntries(picked), ...set };
}
