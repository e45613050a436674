import { existsSync, rmSync, statSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';

/** Empty files beside the space itself: a file system can run out of either. */
const FILES = 64;
const CHUNK = 1024 * 1024;

/** Sets `bytes` and a few files aside in a folder of its own. Made aside, so that what is there is whole. @throws where there is no room */
export async function makeReserve(dir: string, bytes: number): Promise<void> {
  if (statSync(`${dir}/space`, { throwIfNoEntry: false })?.size === bytes) return;
  await rm(dir, { recursive: true, force: true });
  const temp = `${dir}.making`;
  await rm(temp, { recursive: true, force: true });
  try {
    await mkdir(temp, { recursive: true, mode: 0o700 });
    for (let n = 1; n <= FILES; n += 1) await (await open(`${temp}/${n}`, 'wx', 0o600)).close();
    await fill(`${temp}/space`, bytes);
    await rename(temp, dir);
  } catch (error) {
    await rm(temp, { recursive: true, force: true });
    throw error;
  }
}

/** Gives what was set aside to whoever writes next. False where nothing is. */
export function giveUpReserve(dir: string): boolean {
  if (!existsSync(dir)) return false;
  try {
    rmSync(dir, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

/** Written in full: a hole would reserve nothing. */
async function fill(path: string, bytes: number): Promise<void> {
  const zeros = Buffer.alloc(CHUNK);
  const file = await open(path, 'wx', 0o600);
  try {
    for (let left = bytes; left > 0; left -= CHUNK) await file.writeFile(zeros.subarray(0, Math.min(CHUNK, left)));
    await file.sync();
  } finally {
    await file.close();
  }
}
