import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import type { StreamRecord } from '../../domain/run/outcome.ts';
import { segmentName, type LogStream } from '../state/log-segments.ts';

export const SEGMENT_BYTES = 4 * 1024 * 1024;
/** Besides the first one, which is never dropped. */
export const LAST_SEGMENTS = 4;
/** After a failed write, milliseconds for which text is dropped before the next try. */
const PAUSE_MS = 1_000;

/**
 * One output stream: counts and hashes every byte and keeps the first and the last segments. Writes are synchronous, so that
 * nothing is ever queued in memory: while the disk is slow the agent waits on its pipe. A full disk drops text, never the count.
 */
export class LogWriter {
  readonly #dir: string;
  readonly #stream: LogStream;
  readonly #hash = createHash('sha256');
  readonly #starts: number[] = [];
  #fd: number | undefined;
  #bytes = 0;
  #pausedUntil = 0;
  #ended = false;

  constructor(dir: string, stream: LogStream) {
    this.#dir = dir;
    this.#stream = stream;
  }

  get bytes(): number {
    return this.#bytes;
  }

  write(chunk: Buffer): void {
    if (this.#ended) return;
    this.#hash.update(chunk);
    for (let rest = chunk; rest.length > 0;) {
      const room = (this.#starts.at(-1) ?? 0) + SEGMENT_BYTES - this.#bytes;
      if (room <= 0 && this.#fd !== undefined) this.#close();
      const part = this.#fd === undefined ? rest : rest.subarray(0, room);
      this.#store(part);
      this.#bytes += part.length;
      rest = rest.subarray(part.length);
    }
  }

  /** Call once, at the end of the stream; what comes later is ignored. */
  end(): StreamRecord {
    this.#ended = true;
    try {
      if (this.#fd !== undefined) fsyncSync(this.#fd);
    } catch {
      // A full disk: the count and the hash stand all the same.
    }
    this.#close();
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  #store(part: Buffer): void {
    if (Date.now() < this.#pausedUntil) return;
    try {
      this.#fd ??= this.#open();
      for (let done = 0; done < part.length;) done += writeSync(this.#fd, part, done);
    } catch {
      this.#pausedUntil = Date.now() + PAUSE_MS;
      this.#close();
    }
  }

  #open(): number {
    const fd = openSync(this.#path(this.#bytes), 'w', 0o600);
    this.#starts.push(this.#bytes);
    if (this.#starts.length > LAST_SEGMENTS + 1) rmSync(this.#path(this.#starts.splice(1, 1)[0]!), { force: true });
    return fd;
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #path(start: number): string {
    return `${this.#dir}/${segmentName(this.#stream, start)}`;
  }
}
