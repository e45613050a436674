import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { WireLine, WireLog } from '../../domain/wire.ts';

/** Lines are whole up to here; then they lack calls and results, and at twice the size nothing is added any more. */
const FULL = 8 * 1024 * 1024;

/** A run's `wire.jsonl`, as its writer has it. */
export class WireFile {
  readonly #path: string;
  #size: number;

  constructor(path: string) {
    this.#path = path;
    this.#size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Never throws: what a full disk does not take is missing there, and told as such by the next line that it takes. */
  append(line: WireLine): void {
    if (this.#size > 2 * FULL) return;
    const full = this.#size > FULL && line.type === 'exchange';
    try {
      if (full && !this.#marked) this.#write({ type: 'full', at: line.at });
      this.#marked ||= full;
      this.#write(full ? { ...line, calls: [], results: [] } : line);
    } catch {
      this.#marked = false;
      this.#size = Math.max(this.#size, FULL + 1);
    }
  }

  #marked = false;

  #write(line: WireLine): void {
    const text = `${JSON.stringify(line)}\n`;
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    appendFileSync(this.#path, text, { mode: 0o600 });
    this.#size += Buffer.byteLength(text);
  }
}

export const noteUnseen = (path: string, why: string): void =>
  new WireFile(path).append({ type: 'unseen', at: new Date().toISOString(), why });

/** Null where there is none, as an older worker left. Never throws for what it reads. */
export function readWire(path: string): WireLog | null {
  let content;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const log: WireLog = { unseen: null, exchanges: [], whole: true };
  for (const line of content.split('\n').filter(Boolean)) {
    const said = parse(line);
    if (said?.type === 'exchange') {
      log.exchanges.push(said);
      log.whole &&= said.unread === undefined;
    } else if (said?.type === 'unseen') log.unseen = said.why;
    else log.whole &&= said?.type === 'opened';
  }
  return log;
}

function parse(line: string): WireLine | undefined {
  try {
    return JSON.parse(line) as WireLine;
  } catch {
    return undefined;
  }
}
