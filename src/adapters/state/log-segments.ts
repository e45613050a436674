import { open, readdir } from 'node:fs/promises';

export type LogStream = 'stdout' | 'stderr' | 'hooks';

/** A piece of a log that the keeper writes in segments named `<stream>.<start offset>`. */
export interface Piece {
  bytes: Buffer;
  /** Offset just behind the piece. */
  next: number;
  /** Bytes between the asked offset and the piece that were dropped. */
  gap: number;
}

/**
 * Reads a stream from `offset`; empty where nothing more is there yet. `room` is how many bytes at most, or a buffer to read
 * into: the piece is then a part of it.
 */
export async function readSegments(
  log: { dir: string; stream: LogStream },
  offset: number,
  room: number | Buffer,
): Promise<Piece> {
  const starts = await segmentStarts(log.dir, log.stream);
  const at = starts.findLastIndex((start) => start <= offset);
  for (const start of starts.slice(Math.max(0, at))) {
    const from = Math.max(offset, start);
    const bytes = await readAt(`${log.dir}/${segmentName(log.stream, start)}`, from - start, room);
    if (bytes.length > 0) return { bytes, next: from + bytes.length, gap: from - offset };
  }
  return { bytes: Buffer.alloc(0), next: offset, gap: 0 };
}

export const segmentName = (stream: string, start: number): string => `${stream}.${String(start).padStart(12, '0')}`;

export async function segmentStarts(dir: string, stream: string): Promise<number[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => name.startsWith(`${stream}.`))
    .map((name) => Number(name.slice(stream.length + 1)))
    .sort((a, b) => a - b);
}

/** Reads a file from `position`; empty for a missing file or its end. */
export async function readAt(path: string, position: number, room: number | Buffer): Promise<Buffer> {
  let file;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
  try {
    const length = Math.min(Buffer.isBuffer(room) ? room.length : room, (await file.stat()).size - position);
    if (length <= 0) return Buffer.alloc(0);
    const into = Buffer.isBuffer(room) ? room : Buffer.alloc(length);
    const { bytesRead } = await file.read(into, 0, length, position);
    return into.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
