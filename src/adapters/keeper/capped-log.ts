import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

const HEAD = 1024 * 1024;
const CAP = 8 * HEAD;
/** What stays behind the head when the file is full: room for half of it is made at once. */
const KEPT = (CAP - HEAD) / 2;
const MARK = Buffer.from('\n[... output dropped here ...]\n');
const TAIL_BYTES = 8_000;

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

  /** What is kept of all that this writer wrote; its tail, where the disk did not take it. */
  get written(): string {
    if (this.#fd === undefined) return this.tail;
    const bytes = Buffer.alloc(this.#size - this.#from);
    return bytes.toString('utf8', 0, readSync(this.#fd, bytes, 0, bytes.length, this.#from));
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
    const length = readSync(this.#fd, kept, 0, KEPT, Math.max(HEAD, this.#size - KEPT));
    ftruncateSync(this.#fd, HEAD);
    this.#size = HEAD;
    this.#from = Math.min(this.#from, HEAD);
    this.#append(MARK);
    this.#append(kept.subarray(0, length));
  }
}
