import { constants } from 'node:fs';
import { mkdir, open, writeFile, type FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { NOTE_MAX } from '../git/rescue/work-record.ts';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Uses a regular file in a folder that an agent owns, without following a link that it may have put there instead of
 * either, and without waiting for a pipe. Undefined where there is no such file.
 */
async function withAgentFile<T>(
  folder: string,
  name: string,
  use: (file: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  const dir = await open(folder, FOLDER).catch(() => undefined);
  if (!dir) return undefined;
  try {
    const beneath = process.platform === 'linux' ? `/proc/self/fd/${dir.fd}` : folder;
    const file = await open(`${beneath}/${name}`, FILE).catch(() => undefined);
    if (!file) return undefined;
    try {
      return (await file.stat()).isFile() ? await use(file) : undefined;
    } finally {
      await file.close();
    }
  } finally {
    await dir.close();
  }
}

/** Keeps a note of the agent's, at most 1 MB of it. False where it has none of that name. */
export async function copyNote(notes: string, to: string, mask?: (text: string) => string): Promise<boolean> {
  const bytes = await readNote({ notes, name: basename(to), offset: 0, max: NOTE_MAX });
  if (!bytes) return false;
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, mask ? mask(bytes.toString('utf8')) : bytes);
  return true;
}

/** A piece of a note as it is now; undefined where there is none. */
export function readNote(note: {
  notes: string;
  name: string;
  offset: number;
  max: number;
}): Promise<Buffer | undefined> {
  return withAgentFile(note.notes, note.name, async (file) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(note.max), 0, note.max, note.offset);
    return buffer.subarray(0, bytesRead);
  });
}
