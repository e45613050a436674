import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { statfs, utimes } from 'node:fs/promises';
import type { Space } from '../../domain/worker/disk.ts';

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

/** What one run needs at a time, with room to spare. */
const DESCRIPTORS = 64;

/**
 * File descriptors set aside: Node aborts where it has none for the watchdog of a workflow step, which no code can catch.
 * They are given up when the others run out, and taken again when there are plenty. Those that are free are counted: to open
 * them all, for however short a time, would take them from the very steps that they are for.
 */
export class Descriptors {
  #kept: number[] = [];

  /** Whether there are enough for new work. */
  look(): boolean {
    const enough = areFree(this.#kept.length > 0 ? DESCRIPTORS : 2 * DESCRIPTORS);
    if (!enough) this.release();
    else if (this.#kept.length === 0) this.#kept = openMany(DESCRIPTORS) ?? [];
    return enough;
  }

  release(): void {
    this.#close(this.#kept);
    this.#kept = [];
  }

  #close(descriptors: readonly number[]): void {
    for (const fd of descriptors) closeSync(fd);
  }
}

/** By what the system says of this process; where it says nothing (macOS), by trying. */
function areFree(count: number): boolean {
  const limits = read('/proc/self/limits');
  const soft = limits === undefined ? undefined : /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  if (soft === undefined) {
    const opened = openMany(count);
    for (const fd of opened ?? []) closeSync(fd);
    return opened !== undefined;
  }
  try {
    // One that was open before the limit fell below its number takes no place.
    const taken = readdirSync('/proc/self/fd').filter((fd) => Number(fd) < Number(soft));
    return Number(soft) - taken.length >= count;
  } catch {
    return false;
  }
}

/** Undefined: there is no such file. @throws where it cannot be opened for another reason, but for want of a descriptor */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EMFILE' || code === 'ENFILE') return 'Max open files 0';
    if (code === 'ENOENT') return undefined;
    throw error;
  }
}

/** All of them, or none. */
function openMany(count: number): number[] | undefined {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync('/dev/null', 'r'));
    return opened;
  } catch {
    for (const fd of opened) closeSync(fd);
    return undefined;
  }
}

const FULL = { codes: ['ENOSPC', 'EDQUOT'], said: /no space left on device|disk quota exceeded/i };
const REFUSED = {
  codes: ['EROFS', 'EIO', 'EMFILE', 'ENFILE'],
  said: /read-only file system|too many open files|\bE[MN]FILE\b/i,
};

/** Whether a write failed because there is no room, also where git or a shell was the writer. */
export const isDiskFull = (error: unknown): boolean => says(error, FULL);

/** Whether a write failed for the machine's sake: it may succeed later. */
export const isDiskTrouble = (error: unknown): boolean => says(error, FULL) || says(error, REFUSED);

function says(error: unknown, trouble: typeof FULL): boolean {
  if (!(error instanceof Error)) return false;
  const { code, stderr, syscall } = error as { code?: unknown; stderr?: unknown; syscall?: unknown };
  // Node's mkdir that makes all folders of a path says ENOENT where the file system is read-only.
  const known = code === 'ENOENT' && syscall === 'mkdir' ? 'EROFS' : code;
  if (typeof known === 'string' && trouble.codes.includes(known)) return true;
  if (trouble.said.test(error.message) || (typeof stderr === 'string' && trouble.said.test(stderr))) return true;
  return says(error.cause, trouble);
}
