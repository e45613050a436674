import { copyFileSync, constants, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { matches, roots } from '../../glob.ts';
import { isGitName } from '../safe-links.ts';

/**
 * Copies what a fresh worktree lacks, e.g. `.env`, from the user's checkout: regular files only, through no link, never
 * from a repository's inside, and over nothing that is there. Gives the paths, relative to the top, sorted.
 */
export async function copyIgnored(copy: {
  checkout: string;
  tree: string;
  globs: readonly string[];
}): Promise<string[]> {
  const wanted = matches(copy.globs);
  const found = new Set<string>();
  for (const root of roots(copy.globs))
    if (plainPath(copy.checkout, root)) for (const path of await collect(copy.checkout, root, wanted)) found.add(path);
  const copied: string[] = [];
  for (const path of [...found].sort()) if (copyOne(copy, path)) copied.push(path);
  return copied;
}

async function collect(checkout: string, root: string, wanted: (path: string) => boolean): Promise<string[]> {
  const found: string[] = [];
  if (root !== '' && lstatSync(`${checkout}/${root}`).isFile()) {
    return wanted(root) ? [root] : [];
  }
  const todo = [root];
  for (let dir = todo.pop(), seen = 0; dir !== undefined; dir = todo.pop(), seen += 1) {
    for (const one of readdirSync(`${checkout}/${dir}`, { withFileTypes: true })) {
      const path = dir ? `${dir}/${one.name}` : one.name;
      if (isGitName(one.name)) continue;
      if (one.isDirectory()) todo.push(path);
      else if (one.isFile() && wanted(path)) found.push(path);
    }
    if (seen % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
  }
  return found;
}

function copyOne({ checkout, tree }: { checkout: string; tree: string }, path: string): boolean {
  try {
    if (!plainPath(tree, dirname(path), true)) return false;
    mkdirSync(dirname(`${tree}/${path}`), { recursive: true });
    copyFileSync(`${checkout}/${path}`, `${tree}/${path}`, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if (['EEXIST', 'ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Whether every part of a path is a real folder or file: no links, no way up, no `.git`. */
function plainPath(top: string, path: string, mayMiss = false): boolean {
  const parts = path === '' || path === '.' ? [] : path.split('/');
  for (let i = 1; i <= parts.length; i += 1) {
    const part = parts[i - 1] ?? '';
    if (part === '..' || isGitName(part)) return false;
    const stat = lstatSync(`${top}/${parts.slice(0, i).join('/')}`, { throwIfNoEntry: false });
    if (!stat) return mayMiss;
    if (stat.isSymbolicLink() || (i < parts.length && !stat.isDirectory())) return false;
  }
  return true;
}
