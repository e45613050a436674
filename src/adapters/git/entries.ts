import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { ended, GitFailed, gitText, startGit, type Owner } from './git.ts';
import { settle } from './pack.ts';

/** A file (100644, 100755), symlink (120000) or submodule (160000). */
export interface Entry {
  mode: string;
  id: string;
  /** The path's bytes as latin1, only where they are not UTF-8; the key then shows them as `\xNN`. */
  bin?: string;
}

interface Reading {
  gitDir: string;
  as?: Owner;
}

export interface Tree {
  /** By path from the top, `/` between. */
  entries: Map<string, Entry>;
  /** Ids of the folders below the top, by path in bytes (latin1). */
  folders: Map<string, string>;
}

/** Nested folders with the same content can be listed without end: for commits that an agent made. */
export const AGENT_LIST_BYTES = 64 * 1024 ** 2;
export const TOO_MANY_FILES = 'too many files';
const LIST_BYTES = 1024 ** 3;
const CACHED = 6;
/** By commit; `bytes`: how long git's list was. */
const cache = new Map<string, Promise<Tree & { bytes: number }>>();

/**
 * Everything in a commit, from a repository of ours, or of a user's with its owner's rights. One process per commit, then none:
 * a commit never changes. Throws {@link GitFailed} where git's list is longer than `maxBytes` (default 1 GiB).
 */
export function treeEntries(
  gitDir: string,
  commit: string,
  { maxBytes = LIST_BYTES, as }: { maxBytes?: number; as?: Owner | undefined } = {},
): Promise<Tree> {
  const anew = () => keep(commit, list({ gitDir, ...(as ? { as } : {}) }, commit, maxBytes));
  const known = cache.get(commit);
  if (!known) return anew();
  void keep(commit, known);
  // One that was too long for another bound says nothing of this one.
  return known.then((tree) => (tree.bytes <= maxBytes ? tree : anew()), anew);
}

function keep(commit: string, tree: Promise<Tree & { bytes: number }>): Promise<Tree> {
  cache.delete(commit);
  cache.set(commit, tree);
  tree.catch(() => cache.get(commit) === tree && cache.delete(commit));
  for (const oldest of cache.keys()) if (cache.size > CACHED) cache.delete(oldest);
  return tree;
}

async function list(from: Reading, commit: string, maxBytes: number): Promise<Tree & { bytes: number }> {
  const tree: Tree = { entries: new Map(), folders: new Map() };
  let [rest, bytes]: [Buffer, number] = [Buffer.alloc(0), 0];
  for (const chunk of await read(from, commit, maxBytes)) {
    const out = rest.length ? Buffer.concat([rest, chunk]) : chunk;
    rest = out.subarray(parse(out, tree));
    bytes += chunk.length;
  }
  return { ...tree, bytes };
}

export const hasFolder = ({ folders }: Tree, path: string): boolean =>
  folders.has(Buffer.from(path, 'utf8').toString('latin1'));

/** Id of a commit's tree. */
export const treeOf = ({ gitDir, commit }: { gitDir: string; commit: string }): Promise<string> =>
  gitText(['rev-parse', '--verify', `${commit}^{tree}`], { gitDir });

/** What git lists, read in full before any of it becomes objects; git is killed at the bound. */
async function read(from: Reading, commit: string, maxBytes: number): Promise<Buffer[]> {
  const args = ['ls-tree', '-r', '-t', '-z', '--full-tree', commit];
  const child = startGit(args, from, { stdin: 'ignore', stdout: 'pipe', buffer: { stdout: false } });
  const end = settle(ended(child, args));
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of child.stdout as Readable) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) break;
    chunks.push(chunk as Buffer);
  }
  if (bytes > maxBytes) child.kill('SIGKILL');
  const failed = await end;
  if (bytes > maxBytes) throw new GitFailed(args, { code: null, stderr: TOO_MANY_FILES, timedOut: false });
  if (failed) throw failed;
  return chunks;
}

/** Adds the whole lines of `out` to the tree; gives where the rest begins. */
function parse(out: Buffer, tree: Tree): number {
  let at = 0;
  for (let end = out.indexOf(0); end >= 0; end = out.indexOf(0, at)) {
    const tab = out.indexOf(9, at);
    const [mode = '', type, id = ''] = out.toString('latin1', at, tab).split(' ');
    const path = decodePath(out.subarray(tab + 1, end));
    if (type === 'tree') tree.folders.set(out.toString('latin1', tab + 1, end), id);
    else tree.entries.set(path.text, path.bin === undefined ? { mode, id } : { mode, id, bin: path.bin });
    at = end + 1;
  }
  return at;
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
