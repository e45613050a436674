import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import type { Submodule } from '../../../domain/repository/submodule.ts';
import { dropDamagedBase } from '../source/base-store.ts';
import { checkoutTree } from './checkout.ts';
import { same, treeEntries, type Entry } from '../entries.ts';
import { formatOf } from '../init.ts';
import { isFolderName } from '../safe-links.ts';
import { own, walkTree } from '../capture/walk.ts';

/**
 * Checks submodules out below a tree that nobody but us has written to: their files, and no repository. A store that is found
 * damaged is taken out of the way; the error then says so to whoever tries again.
 */
export async function laySubmodules(tree: string, submodules: readonly Submodule[]): Promise<void> {
  for (const { path, commit, gitDir } of submodules) {
    try {
      await checkoutTree({ gitDir, commit, dir: emptyFolder(tree, path) });
    } catch (error) {
      await dropDamagedBase(gitDir, error);
      throw error;
    }
  }
}

/** The tree that a submodule is to be laid into has no place for it: whoever made the tree is to blame, and no machine. */
export class SubmoduleRefused extends Error {
  constructor(path: string, why: string) {
    super(`submodule ${path} cannot be checked out: ${why}`);
  }
}

/** Made where it is missing. What leads to it was checked out of commits that others have made: no link is followed. @throws SubmoduleRefused */
function emptyFolder(tree: string, path: string): string {
  let dir = tree;
  for (const part of path.split('/')) {
    if (!isFolderName(part)) throw new SubmoduleRefused(path, `${JSON.stringify(part)} is no name of a folder`);
    dir = `${dir}/${part}`;
    const stat = lstatSync(dir, { throwIfNoEntry: false });
    if (!stat) mkdirSync(dir);
    else if (!stat.isDirectory()) throw new SubmoduleRefused(path, `${dir.slice(tree.length + 1)} is no folder`);
  }
  if (readdirSync(dir).length > 0) throw new SubmoduleRefused(path, 'its folder is not empty');
  return dir;
}

/** Their paths, for walks. */
export const pathsOf = (submodules: readonly Submodule[]): ReadonlySet<string> =>
  new Set(submodules.map(({ path }) => path));

/**
 * Files of submodules that are not as they were checked out, changed, gone or added, from the top; none that they ignore.
 * `links`: the result's entries: a submodule that it moves to another commit, or has not, is not looked at.
 */
export async function changedInSubmodules(given: {
  tree: string;
  submodules: readonly Submodule[];
  links: ReadonlyMap<string, Entry>;
}): Promise<Map<string, Entry | undefined>> {
  const { tree, submodules } = given;
  const found = new Map<string, Entry | undefined>();
  const seen = new Map([['', given.links]]);
  for (const { path, commit, gitDir } of submodules) {
    const parent = parentOf(path, submodules);
    const below = parent === '' ? path : path.slice(parent.length + 1);
    if (seen.get(parent)?.get(below)?.id !== commit) continue;
    const base = await treeEntries(gitDir, commit);
    const inside = submodules.filter((one) => parentOf(one.path, submodules) === path);
    const nested = new Set(inside.map((one) => one.path.slice(path.length + 1)));
    const { entries } = await walkTree({ tree: `${tree}/${path}`, base, format: formatOf(commit), submodules: nested });
    seen.set(path, entries);
    for (const name of new Set([...base.entries.keys(), ...entries.keys()]))
      if (!same(base.entries.get(name), entries.get(name))) found.set(`${path}/${name}`, entries.get(name));
  }
  return found;
}

/** Those of the changed files that setup had not left so. */
export const unlikeBefore = (
  changed: ReadonlyMap<string, Entry | undefined>,
  before: Readonly<Record<string, Entry>> | undefined,
): string[] => [...changed].flatMap(([path, entry]) => (entry && same(own(before, path), entry) ? [] : path));

/** The submodule that one lies in; empty: the superproject. */
const parentOf = (path: string, submodules: readonly Submodule[]): string =>
  submodules
    .map((one) => one.path)
    .filter((one) => path.startsWith(`${one}/`))
    .reduce((longest, one) => (one.length > longest.length ? one : longest), '');
