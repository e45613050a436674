import { constants, type Dirent } from 'node:fs';
import { lstat, open, readdir, type FileHandle } from 'node:fs/promises';
import type { Reports } from './reports.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** How much may still be read of what one trial reported: 64 MB in all. */
export class Allowance {
  #left = MAX_BYTES;

  /** Null for what is missing or no regular file. @throws where more than is left would be read */
  async read(path: string): Promise<string | null> {
    return inFile(path, (file, size) => {
      this.#left -= size;
      if (this.#left < 0) throw new Error('too much to read');
      return textOf(file, size);
    });
  }
}

/** Where a trial's reports are read from and gathered in. */
export interface ReportFolder {
  folder: string;
  allowance: Allowance;
  reports: Reports;
}

/** The first bytes of a file; empty for what is missing or no regular file. */
export const readHead = async (path: string, bytes: number): Promise<string> =>
  (await inFile(path, (file, size) => textOf(file, Math.min(size, bytes)))) ?? '';

/** The entries of a folder; none where it is missing or a link. */
export async function entriesOf(folder: string): Promise<Dirent[]> {
  const found = await lstat(folder).catch(() => null);
  return found?.isDirectory() ? readdir(folder, { withFileTypes: true }).catch(() => []) : [];
}

/** What a trial could write to may be a link or a pipe: neither is followed, nor waited for. */
async function inFile(path: string, read: (file: FileHandle, size: number) => Promise<string>): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (!file) return null;
  try {
    const found = await file.stat();
    return found.isFile() ? await read(file, found.size) : null;
  } finally {
    await file.close();
  }
}

async function textOf(file: FileHandle, size: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
  return buffer.toString('utf8', 0, bytesRead);
}
