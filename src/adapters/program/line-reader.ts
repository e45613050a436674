/** A line longer than this is cut: nothing that an agent prints can take the worker's memory. */
const MAX_LINE = 1024 * 1024;

/** Splits bytes into lines and knows the offset behind each, so that a reader can go on after a restart. */
export class LineReader {
  #rest = Buffer.alloc(0);
  #dropping = false;
  /** Offset of the first byte that is not yet part of a finished line. */
  offset: number;

  constructor(offset = 0) {
    this.offset = offset;
  }

  /** Finished lines with the offset just behind each. A gap before the bytes ends the line that was under way. */
  push(bytes: Buffer, gap = 0): { line: string; offset: number }[] {
    if (gap > 0) {
      this.offset += this.#rest.length + gap;
      this.#rest = Buffer.alloc(0);
      this.#dropping = true;
    }
    const lines: { line: string; offset: number }[] = [];
    const data = this.#rest.length ? Buffer.concat([this.#rest, bytes]) : bytes;
    let start = 0;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      this.offset += end + 1 - start;
      if (!this.#dropping) lines.push({ line: data.toString('utf8', start, end), offset: this.offset });
      this.#dropping = false;
      start = end + 1;
    }
    const left = data.length - start;
    if (this.#dropping || left > MAX_LINE) {
      this.offset += left;
      this.#dropping = true;
      start = data.length;
    }
    this.#rest = Buffer.from(data.subarray(start));
    return lines;
  }

  /** What is left without a line break, at the end of the stream. */
  flush(): { line: string; offset: number }[] {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    this.offset += rest.length;
    return rest.length && !this.#dropping ? [{ line: rest.toString('utf8'), offset: this.offset }] : [];
  }
}
