import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

const HEAD = 1024 * 1024;
const CAP = 8 * HEAD;
/** What stays behind the head when the file is full: room for half of it is made at once. */
const KEPT = (CAP - HEAD) / 2;
const MARK = Buffer.from('\n[... output dropped here ...]\n');
const TAIL_BYTES = 8_000;
/** Bytes of what a command wrote, at its begin and at its end, where it is read again. */
const READ_BYTES = 256 * 1024;

/** A log file that is appended to and never longer than 8 MB: its first megabyte stays, then the oldest goes. */
export class CappedLog {
  #fd: number | undefined;
  #size = 0;
  /** Where this writer began, as far as that is still there. */
  #from: number;
  #tail = Buffer.alloc(0);

  constructor(path: string) {
    this.#fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#size = fstatSync(this.#fd).size;
    this.#from = this.#size;
  }

  /** The last 2,000 characters. */
  get tail(): string {
    return this.#tail.toString('utf8').slice(-2_000);
  }

  /** What is kept of all that this writer wrote, its first and last 256 KB; its tail, where the disk did not take it. */
  get written(): string {
    if (this.#fd === undefined) return this.tail;
    if (this.#size - this.#from <= 2 * READ_BYTES) return this.#read(this.#from, this.#size);
    return `${this.#read(this.#from, this.#from + READ_BYTES)}${MARK.toString()}${this.#read(this.#size - READ_BYTES, this.#size)}`;
  }

  /** Never throws: a full disk ends the log, not the command. */
  write(bytes: Buffer): void {
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    try {
      if (this.#size + bytes.length > CAP) this.#makeRoom();
      this.#append(bytes);
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #read(from: number, to: number): string {
    const bytes = Buffer.alloc(to - from);
    return bytes.toString('utf8', 0, readSync(this.#fd!, bytes, 0, bytes.length, from));
  }

  #append(bytes: Buffer): void {
    if (this.#fd === undefined) return;
    for (let done = 0; done < bytes.length;) {
      const written = writeSync(this.#fd, bytes, done, bytes.length - done, this.#size);
      done += written;
      this.#size += written;
    }
  }

  #makeRoom(): void {
    if (this.#fd === undefined) return;
    const kept = Buffer.alloc(KEPT);
    const start = Math.max(HEAD, this.#size - KEPT);
    const length = readSync(this.#fd, kept, 0, KEPT, start);
    ftruncateSync(this.#fd, HEAD);
    this.#size = HEAD;
    // What earlier writers left stays in front of it.
    this.#from = this.#from < start ? Math.min(this.#from, HEAD) : this.#from - start + HEAD + MARK.length;
    this.#append(MARK);
    this.#append(kept.subarray(0, length));
  }
}
