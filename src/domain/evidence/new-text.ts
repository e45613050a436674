import { withoutEscapes } from '../values/ansi.ts';

/** Lines that are remembered; one that comes again within so many is not new. */
const REMEMBERED = 4_000;
/** Characters of a line that count. One without an end is taken in pieces of this length. */
const LINE_MAX = 2_000;

/** A part of the way: `45 %`, `3/12`, `3 of 12`, `12.3MB`. It grows as a download does; seconds and plain counters grow by themselves. */
const MEASURE = String.raw`\d[\d.,]*\s?%|\d+\s?/\s?\d+|\d+ of \d+|\d[\d.,]*\s?(?:[KMGT]i?B?|ki?B|bytes)(?![\w/])`;
const NUMBER = String.raw`\d+(?:[.,:]\d+)*`;
/** Ids of calls and messages: a UUID, a hash, a long word with letters and digits. */
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b(?=\w*\d)(?=\w*[a-z])[\w]{12,}\b/gi;
const NUMBERS = new RegExp(`(${MEASURE})|${NUMBER}`, 'g');

/**
 * Tells new text from what a program only says again: a line is new where none of the last 4,000 was the same but for its
 * numbers and ids. `Thinking… 12s` is not new behind `Thinking… 11s`; `45 %` is behind `44 %`.
 */
export class NewText {
  /** Lines so far, in order of when they last came. */
  readonly #known = new Set<string>();
  #rest = '';
  /** New lines so far, and others. */
  fresh = 0;
  repeated = 0;

  /** What was printed since the last call. `times`: how much more there was than this part of it. */
  push(text: string, times = 1): void {
    const lines = (this.#rest + text).split(/[\r\n]+/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(line, times);
    while (this.#rest.length > LINE_MAX) {
      this.#take(this.#rest.slice(0, LINE_MAX), times);
      this.#rest = this.#rest.slice(LINE_MAX);
    }
    // A line that is not ended may be all that there is for long.
    if (text !== '') this.#take(this.#rest, times);
  }

  #take(line: string, times: number): void {
    const key = gist(line.slice(0, LINE_MAX));
    if (key === '') return;
    if (this.#known.delete(key)) this.repeated += times;
    else this.fresh += 1;
    this.#known.add(key);
    const [oldest] = this.#known;
    if (this.#known.size > REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }
}

const gist = (line: string): string =>
  withoutEscapes(line)
    .replace(ID, '#')
    .replace(NUMBERS, (_, measure: string | undefined) => measure ?? '#')
    .replace(/\s+/g, ' ')
    .trim();
