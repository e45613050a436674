import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, realpath, rename } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { removeTree } from '../disk/remove-tree.ts';

/** Below a home: what a compiler keeps by the content of what it was made of. */
const CACHES = ['.cache/go-build'];
const FILES_MAX = 50_000;
const BYTES_MAX = 2 ** 30;

/**
 * Copies the caches that builds left below `home` to `kept`, for the homes of later builds: only what a trusted build left, as whoever
 * reads a cache takes it for the truth. Never follows a link. Nothing is kept of more than 50,000 files or 1 GiB.
 */
export async function keepBuildCache(home: string, kept: string): Promise<void> {
  if ((await lstat(kept).catch(() => undefined)) !== undefined) return;
  const found: string[] = [];
  for (const cache of CACHES) {
    const files = await filesBelow(home, cache);
    if (files === undefined) return;
    found.push(...files);
  }
  if (found.length === 0) return;
  const whole = `${kept}.${randomUUID()}`;
  await copyAll(found, { from: home, to: whole });
  // Another may have been quicker.
  await rename(whole, kept).catch(() => removeTree(whole));
}

/** Puts copies of what is kept below `home`: what is written there changes none of it. */
export async function layBuildCache(kept: string, home: string): Promise<void> {
  for (const cache of CACHES) {
    const files = await filesBelow(kept, cache);
    if (files && files.length > 0) await copyAll(files, { from: kept, to: home });
  }
}

/** Relative to `root`; undefined where there are too many. */
async function filesBelow(root: string, folder: string): Promise<string[] | undefined> {
  const files: string[] = [];
  const real = await realpath(join(root, folder)).catch(() => undefined);
  const open = real !== undefined && real === join(await realpath(root), folder) ? [folder] : [];
  let bytes = 0;
  for (let dir = open.pop(); dir !== undefined; dir = open.pop())
    for (const entry of await readdir(join(root, dir), { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) open.push(path);
      if (!entry.isFile()) continue;
      bytes += (await lstat(join(root, path))).size;
      if (files.push(path) > FILES_MAX || bytes > BYTES_MAX) return undefined;
    }
  return files;
}

async function copyAll(files: readonly string[], { from, to }: { from: string; to: string }): Promise<void> {
  for (const dir of new Set(files.map((path) => dirname(path)))) await mkdir(join(to, dir), { recursive: true });
  // Where the file system can, both share their blocks until one is written to.
  for (const path of files) await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE);
}
