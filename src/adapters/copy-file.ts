import { constants } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const MAX_BYTES = 1024 * 1024;

/** Copies a regular file of at most 1 MB, following no link; false where there is none. */
export async function copyFile(from: string, to: string): Promise<boolean> {
  let file;
  try {
    file = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return false;
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > MAX_BYTES) return false;
    const bytes = await file.readFile();
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, bytes);
    return true;
  } finally {
    await file.close();
  }
}
