import { isUtf8 } from 'node:buffer';
import { git } from './git.ts';

/** A file (100644, 100755), symlink (120000) or submodule (160000). */
export interface Entry {
  mode: string;
  id: string;
  /** The path's bytes as latin1, only where they are not UTF-8; the key then shows them as `\xNN`. */
  bin?: string;
}

export interface Tree {
  /** By path from the top, `/` between. */
  entries: Map<string, Entry>;
  /** Ids of the folders below the top, by path in bytes (latin1). */
  folders: Map<string, string>;
}

const CACHED = 6;
const cache = new Map<string, Promise<Tree>>();

/** Everything in a commit, from a repository of ours. One process per commit, then none: a commit never changes. */
export function treeEntries(gitDir: string, commit: string): Promise<Tree> {
  const known = cache.get(commit) ?? list(gitDir, commit);
  cache.delete(commit);
  cache.set(commit, known);
  known.catch(() => cache.delete(commit));
  for (const oldest of cache.keys()) if (cache.size > CACHED) cache.delete(oldest);
  return known;
}

async function list(gitDir: string, commit: string): Promise<Tree> {
  const out = await git(['ls-tree', '-r', '-t', '-z', '--full-tree', commit], { gitDir, maxBytes: 1024 ** 3 });
  const tree: Tree = { entries: new Map(), folders: new Map() };
  for (let at = 0; at < out.length;) {
    const end = out.indexOf(0, at);
    const tab = out.indexOf(9, at);
    const [mode = '', type, id = ''] = out.toString('latin1', at, tab).split(' ');
    const path = decodePath(out.subarray(tab + 1, end));
    if (type === 'tree') tree.folders.set(out.toString('latin1', tab + 1, end), id);
    else tree.entries.set(path.text, path.bin === undefined ? { mode, id } : { mode, id, bin: path.bin });
    at = end + 1;
  }
  return tree;
}

/** A path or name as text that is one to one with its bytes. */
export function decodePath(bytes: Buffer): { text: string; bin?: string } {
  if (isUtf8(bytes)) return { text: bytes.toString('utf8') };
  const bin = bytes.toString('latin1');
  return { text: bin.replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`), bin };
}

/** The path's bytes, as latin1. */
export const binaryPath = (path: string, entry: Entry): string =>
  entry.bin ?? Buffer.from(path, 'utf8').toString('latin1');

/** Old repositories have modes such as 100664; git has treated them as these for ages. */
export const plainMode = (mode: string): string =>
  mode.startsWith('100') ? (mode === '100755' ? mode : '100644') : mode;
export const same = (a: Entry | undefined, b: Entry | undefined): boolean =>
  a?.id === b?.id && plainMode(a?.mode ?? '') === plainMode(b?.mode ?? '');
