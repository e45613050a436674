import { lstatSync, readlinkSync } from 'node:fs';

const MOST_HOPS = 40;

/** Whether following a symlink would leave the tree, through other symlinks too. Nothing is followed to find out. */
export function linkLeaves(tree: string, link: { dir: string; target: string }): boolean {
  const at = link.dir === '' ? [] : link.dir.split('/');
  const todo = link.target.split('/');
  if (link.target.startsWith('/')) return true;
  for (let hops = 0; todo.length > 0;) {
    const part = todo.shift() as string;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (at.length === 0) return true;
      at.pop();
      continue;
    }
    const target = readLink(`${tree}/${[...at, part].join('/')}`);
    if (target === null) {
      at.push(part);
      continue;
    }
    hops += 1;
    if (target.startsWith('/')) return true;
    if (hops > MOST_HOPS) return false; // a loop: nothing can follow it
    todo.unshift(...target.split('/'));
  }
  return at[0]?.toLowerCase() === '.git';
}

function readLink(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null;
  } catch {
    return null;
  }
}

/** Characters that HFS+ ignores in names: `.g<ZWNJ>it` is `.git` there. */
const IGNORABLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** That a folder of a checkout may have: it leads nowhere else, and is no repository's. */
export const isFolderName = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !isGitName(name);

/** A name that git, on some file system, would take for a repository: what `fsck` refuses too. */
export function isGitName(name: string): boolean {
  const plain = name
    .replace(IGNORABLE, '')
    .toLowerCase()
    .split(/[:\\]/, 1)[0]
    ?.replace(/[ .]+$/, '');
  return plain === '.git' || plain === 'git~1';
}
