import { StringDecoder } from 'node:string_decoder';

const EVENT_MAX = 8 * 1024 * 1024;

/** Server-sent events of a body that comes in pieces, torn anywhere: gives the `data` of each as it is complete. */
export class EventReader {
  readonly #decoder = new StringDecoder('utf8');
  #pieces: string[] = [];
  #length = 0;
  #data: string[] = [];
  #size = 0;
  #skip = false;
  #afterReturn = false;
  /** Events that were longer than 8 MB. */
  dropped = 0;

  push(bytes: Buffer): string[] {
    const found: string[] = [];
    let piece = this.#decoder.write(bytes);
    if (this.#afterReturn && piece.startsWith('\n')) piece = piece.slice(1);
    if (piece) this.#afterReturn = piece.endsWith('\r');
    const lines = piece.includes('\r') ? piece.split(/\r\n|\n|\r/) : piece.split('\n');
    for (const [at, line] of lines.entries()) {
      this.#length += line.length;
      if (this.#length + this.#size > EVENT_MAX) this.#drop();
      if (!this.#skip) this.#pieces.push(line);
      if (at === lines.length - 1) break;
      this.#line(this.#pieces.join(''), found);
      [this.#pieces, this.#length] = [[], 0];
    }
    return found;
  }

  /** A last event that lacks its blank line. */
  end(): string[] {
    return this.push(Buffer.from('\n\n'));
  }

  #line(line: string, found: string[]): void {
    if (line === '' && this.#length === 0) {
      if (this.#data.length > 0) found.push(this.#data.join('\n'));
      [this.#data, this.#size, this.#skip] = [[], 0, false];
    } else if (!this.#skip && line.startsWith('data:')) {
      this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
      this.#size += line.length;
    }
  }

  #drop(): void {
    if (!this.#skip) this.dropped += 1;
    [this.#skip, this.#pieces, this.#data, this.#size] = [true, [], [], 0];
  }
}
