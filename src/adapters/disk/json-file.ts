import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

let drafts = 0;

/** The parsed file, or undefined where there is none, or where a failing disk left only a part of it. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Replaces the file at once: a reader, or a crash at any instant, sees the old or the new content. The folder must exist. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  writeJsonSync(path, value);
}

/** As `writeJson`, for any text. */
export async function writeText(path: string, text: string): Promise<void> {
  writeTextSync(path, text);
}

export function writeJsonSync(path: string, value: unknown): void {
  writeTextSync(path, `${JSON.stringify(value)}\n`);
}

/** As `writeText`. */
export const writeTextSync = (path: string, text: string): void => place(path, { text, by: renameSync });

/** Writes the file only if there is none yet, and says whether it did. */
export const createJsonSync = (path: string, value: unknown): boolean =>
  createTextSync(path, `${JSON.stringify(value)}\n`);

/** As `createJsonSync`, for any text. */
export function createTextSync(path: string, text: string): boolean {
  try {
    place(path, { text, by: linkSync });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** The whole text on the disk first, then under its name. Blocks for two fsyncs. */
function place(path: string, { text, by }: { text: string; by: (draft: string, path: string) => void }): void {
  drafts += 1;
  const draft = `${path}.${process.pid}.${drafts}.tmp`;
  try {
    withFile(draft, 'wx', (fd) => writeAll(fd, text));
    by(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
  fsyncSync(fd);
}

function withFile(path: string, flags: string, use: (fd: number) => void): void {
  const fd = openSync(path, flags, 0o600);
  try {
    use(fd);
  } finally {
    closeSync(fd);
  }
}

/** A rename is durable only when its folder is. */
function syncFolder(dir: string): void {
  withFile(dir, 'r', fsyncSync);
}
