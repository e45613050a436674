import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { matches } from '../glob.ts';
import { same, treeEntries, type Entry } from './entries.ts';
import { git } from './git.ts';
import { formatOf } from './init.ts';
import { walkTree } from './walk.ts';

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

/**
 * Makes every file that the globs name exactly what it is in base: restored where it was changed or removed, removed where
 * base has none. Gives the paths that were not so. No process where nothing was touched.
 */
export async function restoreProtected(restore: {
  gitDir: string;
  base: string;
  dir: string;
  protect: readonly string[];
}): Promise<string[]> {
  const { gitDir, dir } = restore;
  if (restore.protect.length === 0) return [];
  const isProtected = matches(restore.protect);
  const base = await treeEntries(gitDir, restore.base);
  const { entries: now } = await walkTree({ tree: dir, base, format: formatOf(restore.base), everything: true });
  const extra = [...now.keys()].filter((path) => isProtected(path) && !base.entries.has(path));
  const wanted = [...base.entries].filter(
    ([path, entry]) => entry.mode !== '160000' && isProtected(path) && !same(entry, now.get(path)),
  );
  for (const path of extra) rmSync(raw(dir, path, now.get(path)), { force: true });
  const blobs = await readBlobs(
    gitDir,
    wanted.map(([, entry]) => entry.id),
  );
  wanted.forEach(([path, entry], i) => put(dir, { path, entry, content: blobs[i] as Buffer }));
  return [...extra, ...wanted.map(([path]) => path)].sort();
}

/** In one process, in the order asked for: 1 GiB at most. */
export async function readBlobs(gitDir: string, ids: readonly string[]): Promise<Buffer[]> {
  if (ids.length === 0) return [];
  const out = await git(['cat-file', '--batch'], {
    gitDir,
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
