import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';

/** What is mounted, by path: its own flags as options, e.g. `,nosuid,relatime`. In a user namespace none of them may be lost. */
export type MountTable = ReadonlyMap<string, string>;

/** From the text of `/proc/self/mountinfo`. The last one at a path is the one that is seen. */
export function readMounts(mountinfo: string = readFileSync('/proc/self/mountinfo', 'utf8')): MountTable {
  const table = new Map<string, string>();
  for (const text of mountinfo.split('\n')) {
    const [, , , , at, options] = text.split(' ');
    if (at === undefined || options === undefined) continue;
    const flags = options.split(',').filter((flag) => /^(no|rel)(suid|dev|exec|atime|diratime)$|^relatime$/.test(flag));
    table.set(
      at.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
      flags.map((flag) => `,${flag}`).join(''),
    );
  }
  return table;
}

/** The flags of the mount that a path lies in. */
export function flagsAt(table: MountTable, path: string): string {
  for (let at = path; ; at = at.slice(0, Math.max(at.lastIndexOf('/'), 1))) {
    const flags = table.get(at);
    if (flags !== undefined || at === '/') return flags ?? '';
  }
}

/** One line as of `/etc/fstab`. */
export function fstabLine(source: string, path: string, options: string): string {
  const [from, to] = [source, path].map((text) =>
    text.replace(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`),
  );
  return `${from} ${to} none ${options} 0 0`;
}

export function within(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest === '' || (rest !== '..' && !rest.startsWith('../') && !isAbsolute(rest));
}

/** Those that are there, each once, without links on the way. */
export const real = (paths: readonly string[]): string[] => [
  ...new Set(paths.filter((path) => existsSync(path)).map((path) => realpathSync(path))),
];
