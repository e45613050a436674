import {
  chmodSync,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import type { Entry } from './entries.ts';
import type { ObjectFormat } from './init.ts';
import { hashHeader, hashObject, NO_FOLLOW } from './objects.ts';

/** A name below an untrusted folder: as people read it, and as the file system knows it. */
export interface Place {
  path: string;
  raw: string | Buffer;
}

export interface Reader {
  format: ObjectFormat;
  violations: string[];
  /** Scratch space for small files. */
  buffer: Buffer;
  maxFileBytes: number;
  /** Bytes that may still be read. */
  budget: number;
}

/** The machine's fault, not the agent's. */
const INFRASTRUCTURE = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'ESTALE']);

/** A regular file's mode and id, from its bytes. */
export async function readFileEntry(reader: Reader, place: Place): Promise<Entry | undefined> {
  const fd = attempt(reader, place, () => openSync(place.raw, NO_FOLLOW));
  if (fd === undefined) return undefined;
  try {
    const { buffer } = reader;
    const stat = fstatSync(fd);
    if (!stat.isFile()) return refuse(reader, place, 'a special file');
    if (stat.size > reader.maxFileBytes) return refuse(reader, place, `larger than ${reader.maxFileBytes} bytes`);
    reader.budget -= stat.size;
    if (reader.budget < 0) return refuse(reader, place, 'all files together are too large');
    const mode = stat.mode & constants.S_IXUSR ? '100755' : '100644';
    if (stat.size < buffer.length) return { mode, id: hashObject(reader.format, 'blob', readSmall(fd, buffer)) };
    const hash = hashHeader(reader.format, 'blob', stat.size);
    const stream = createReadStream('', { fd, autoClose: false, highWaterMark: buffer.length });
    for await (const chunk of stream) hash.update(chunk as Buffer);
    return { mode, id: hash.digest('hex') };
  } finally {
    closeSync(fd);
  }
}

/** A symlink's id, and where it points. */
export function readLinkEntry(reader: Reader, place: Place): { entry: Entry; target: string } | undefined {
  const target = attempt(reader, place, () => readlinkSync(place.raw, { encoding: 'buffer' }));
  if (!target) return undefined;
  return { entry: { mode: '120000', id: hashObject(reader.format, 'blob', target) }, target: target.toString('utf8') };
}

/** A small file's text as latin1; undefined where it is not small or cannot be read. */
export function readText(reader: Reader, place: Place): string | undefined {
  const fd = attempt(reader, place, () => openSync(place.raw, NO_FOLLOW));
  if (fd === undefined) return undefined;
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size >= reader.buffer.length) return undefined;
    return readSmall(fd, reader.buffer).toString('latin1');
  } finally {
    closeSync(fd);
  }
}

/** What the agent took its own rights away from is given back once; what still cannot be read is a violation. */
export function attempt<T>(reader: Reader, place: Place, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'ENODEV') return refuse(reader, place, 'a special file');
    if (code !== 'EACCES') return refuse(reader, place, `cannot be read (${code})`);
  }
  try {
    const stat = lstatSync(place.raw);
    chmodSync(place.raw, (stat.mode & 0o777) | (stat.isDirectory() ? 0o700 : 0o600));
    return read();
  } catch (error) {
    return refuse(reader, place, `cannot be read (${codeOf(error)})`);
  }
}

export function refuse(reader: Reader, place: Pick<Place, 'path'>, why: string): undefined {
  reader.violations.push(`${place.path || '.'}: ${why}`);
  return undefined;
}

/** Throws again where the machine is to blame. */
function codeOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (!code || INFRASTRUCTURE.has(code)) throw error;
  return code;
}

function readSmall(fd: number, buffer: Buffer): Buffer {
  let size = 0;
  for (let got = -1; got !== 0 && size < buffer.length; size += got)
    got = readSync(fd, buffer, size, buffer.length - size, null);
  return buffer.subarray(0, size);
}
