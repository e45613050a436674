import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { within } from '../../adapters/paths.ts';
import { GIVEN_TO_ALL } from '../../domain/values/given-to-all.ts';

/**
 * Where programs in PATH that only choose a version (rustup's cargo, asdf's, mise's, volta's and pyenv's shims) find it, and below
 * which folder of HOME they look without: processes that we start have another one.
 */
const TOOLCHAINS: Record<string, string> = {
  RUSTUP_HOME: '.rustup',
  ASDF_DATA_DIR: '.asdf',
  MISE_DATA_DIR: '.local/share/mise',
  VOLTA_HOME: '.volta',
  PYENV_ROOT: '.pyenv',
};

function toolchains(from: NodeJS.ProcessEnv): Record<string, string> {
  const { HOME: home = '' } = from;
  const folders = Object.entries(TOOLCHAINS).map(([name, usual]) => [name, from[name] ?? join(home, usual)] as const);
  return Object.fromEntries(folders.filter(([, folder]) => isAbsolute(folder) && existsSync(folder)));
}

/** The absolute folders of a PATH that lie in none of `folders`, which others may write. */
export const soundPath = (path: string, folders: readonly string[]): string =>
  path
    .split(':')
    .filter((entry) => isAbsolute(entry) && !folders.some((folder) => within(folder, entry)))
    .join(':');

/** The allow-listed environment, where toolchains are, the variables named on top of it, and what is set for this process. */
export function environment(
  from: NodeJS.ProcessEnv,
  names: readonly string[],
  set: Record<string, string>,
): Record<string, string> {
  const picked = [...GIVEN_TO_ALL, ...names].flatMap((name) =>
    from[name] === undefined ? [] : [[name, from[name]] as const],
  );
  return { ...toolchains(from), ...Object.fromEntries(picked), ...set };
}
