import { closeSync, openSync } from 'node:fs';
import { statfs, utimes } from 'node:fs/promises';
import type { Space } from '../domain/disk.ts';

/** What the file system of a folder has left for our user. Reads no folder. */
export async function spaceOf(dir: string): Promise<Space> {
  const { bavail, bsize, files, ffree } = await statfs(dir);
  return { freeBytes: bavail * bsize, files: files > 0 ? { free: ffree, most: files } : null };
}

/** Why nothing can be written below a folder, e.g. `EROFS`; undefined where it can. Its times change. */
export async function refusesWrites(dir: string): Promise<string | undefined> {
  const now = new Date();
  return utimes(dir, now, now).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code ?? String(error),
  );
}

/** Whether this process can open that many more files. */
export function canOpen(dir: string, count: number): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(dir, 'r'));
    return true;
  } catch {
    return false;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

const FULL = { codes: ['ENOSPC', 'EDQUOT'], said: /no space left on device|disk quota exceeded/i };
const REFUSED = { codes: ['EROFS', 'EIO', 'EMFILE', 'ENFILE'], said: /read-only file system|too many open files/i };

/** Whether a write failed because there is no room, also where git or a shell was the writer. */
export const isDiskFull = (error: unknown): boolean => says(error, FULL);

/** Whether a write failed for the machine's sake: it may succeed later. */
export const isDiskTrouble = (error: unknown): boolean => says(error, FULL) || says(error, REFUSED);

function says(error: unknown, trouble: typeof FULL): boolean {
  if (!(error instanceof Error)) return false;
  const { code, stderr } = error as { code?: unknown; stderr?: unknown };
  if (typeof code === 'string' && trouble.codes.includes(code)) return true;
  if (trouble.said.test(error.message) || (typeof stderr === 'string' && trouble.said.test(stderr))) return true;
  return says(error.cause, trouble);
}
