import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';

export function within(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest === '' || (rest !== '..' && !rest.startsWith('../') && !isAbsolute(rest));
}

/** Those that are there, each once, without links on the way. */
export const real = (paths: readonly string[]): string[] => [
  ...new Set(paths.filter((path) => existsSync(path)).map((path) => realpathSync(path))),
];
