import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { same, treeEntries, type Entry, type Tree } from '../entries.ts';
import { git, type Owner } from '../git.ts';
import { formatOf } from '../init.ts';
import { walkTree } from '../capture/walk.ts';

/** Puts a commit's files, byte for byte, into an empty folder, which is made where it is missing. No `.git`, no filter. */
export async function checkoutTree(checkout: { gitDir: string; commit: string; dir: string }): Promise<void> {
  const index = `${checkout.dir}.index-${randomBytes(4).toString('hex')}`;
  mkdirSync(checkout.dir, { recursive: true });
  try {
    await git([`--work-tree=${checkout.dir}`, 'read-tree', '--reset', '-u', checkout.commit], {
      gitDir: checkout.gitDir,
      cwd: checkout.dir,
      env: { GIT_INDEX_FILE: index },
      timeoutMs: 10 * 60_000,
    });
  } finally {
    rmSync(index, { force: true });
    rmSync(`${index}.lock`, { force: true });
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Which paths of a checkout are to be as in the base. */
export interface AsInBase {
  /** Whether a path that the base has is to be as there. */
  changed(path: string): boolean;
  /** Whether a path that the base lacks is to be taken away. */
  added(path: string): boolean;
}

/** A checkout to be compared with a commit; what lies in its submodules is none of it. */
interface Compared {
  gitDir: string;
  base: string;
  dir: string;
  submodules?: ReadonlySet<string>;
}

const unlike = (base: Tree, { now, changed }: { now: Map<string, Entry>; changed: AsInBase['changed'] }) =>
  [...base.entries].filter(([path, entry]) => entry.mode !== '160000' && changed(path) && !same(entry, now.get(path)));

/** Makes those paths exactly what they are in base: restored, or removed where it has none. Gives the ones that were not so. */
export async function restoreFrom(
  { gitDir, base: commit, dir, submodules = NONE }: Compared,
  asInBase: AsInBase,
): Promise<string[]> {
  const base = await treeEntries(gitDir, commit);
  const { entries: now } = await walkTree({ tree: dir, base, format: formatOf(commit), everything: true, submodules });
  const extra = [...now.keys()].filter((path) => !base.entries.has(path) && asInBase.added(path));
  const wanted = unlike(base, { now, changed: asInBase.changed });
  for (const path of extra) {
    rmSync(raw(dir, path, now.get(path)), { force: true });
    removeEmpty(dir, path);
  }
  const blobs = await readBlobs(
    gitDir,
    wanted.map(([, entry]) => entry.id),
  );
  wanted.forEach(([path, entry], i) => put(dir, { path, entry, content: blobs[i] as Buffer }));
  return [...extra, ...wanted.map(([path]) => path)].sort();
}

/** The folders that only held what is gone: git has none of them, and go takes an empty `vendor` for one. */
function removeEmpty(dir: string, path: string): void {
  for (let at = posix.dirname(path); at !== '.'; at = posix.dirname(at))
    try {
      rmdirSync(`${dir}/${at}`);
    } catch {
      return;
    }
}

/** Makes those paths what they are in the commit, in any checkout; one that it has not is left alone. */
export async function layPaths(
  { gitDir, commit, dir }: { gitDir: string; commit: string; dir: string },
  paths: readonly string[],
): Promise<void> {
  const { entries } = await treeEntries(gitDir, commit);
  const wanted = paths.flatMap((path) => {
    const entry = entries.get(path);
    return entry && entry.mode !== '160000' ? [{ path, entry }] : [];
  });
  const blobs = await readBlobs(
    gitDir,
    wanted.map(({ entry }) => entry.id),
  );
  wanted.forEach((one, i) => put(dir, { ...one, content: blobs[i] as Buffer }));
}

/** Bytes each, in one process, in the order asked for. */
export async function blobSizes(gitDir: string, ids: readonly string[], as?: Owner): Promise<number[]> {
  if (ids.length === 0) return [];
  const out = await git(['cat-file', '--batch-check=%(objectsize)'], {
    gitDir,
    ...(as ? { as } : {}),
    input: ids.map((id) => `${id}\n`).join(''),
  });
  return out.toString('latin1').trimEnd().split('\n').map(Number);
}

/** In one process, in the order asked for: 1 GiB at most. */
export async function readBlobs(gitDir: string, ids: readonly string[], as?: Owner): Promise<Buffer[]> {
  if (ids.length === 0) return [];
  const out = await git(['cat-file', '--batch'], {
    gitDir,
    ...(as ? { as } : {}),
    input: ids.map((id) => `${id}\n`).join(''),
    maxBytes: 1024 ** 3,
  });
  const blobs: Buffer[] = [];
  for (let at = 0; blobs.length < ids.length;) {
    const end = out.indexOf(10, at);
    const size = Number(out.toString('latin1', at, end).split(' ')[2]);
    if (end < 0 || !Number.isInteger(size)) throw new Error(`blob ${ids[blobs.length]} of the base cannot be read`);
    blobs.push(out.subarray(end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
  return blobs;
}

/** Whatever stands in the way is replaced, links too: nothing is written through one. */
export function put(dir: string, { path, entry, content }: { path: string; entry: Entry; content: Buffer }): void {
  const parts = path.split('/');
  for (let i = 1; i < parts.length; i += 1) {
    const folder = `${dir}/${parts.slice(0, i).join('/')}`;
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (stat && !stat.isDirectory()) rmSync(folder);
  }
  const place = raw(dir, path, entry);
  rmSync(place as string, { recursive: true, force: true });
  if (parts.length > 1 && !existsSync(`${dir}/${parts.slice(0, -1).join('/')}`))
    mkdirSync(`${dir}/${parts.slice(0, -1).join('/')}`, { recursive: true });
  if (entry.mode === '120000') symlinkSync(content, place);
  else {
    writeFileSync(place, content);
    chmodSync(place, entry.mode === '100755' ? 0o755 : 0o644);
  }
}

/** Where a path of a tree is on disk. */
export const raw = (dir: string, path: string, entry: Entry | undefined): Buffer | string =>
  entry?.bin === undefined
    ? `${dir}/${path}`
    : Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(entry.bin, 'latin1')]);
