import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { NO_REDACTION, type Redaction } from '../../domain/secrets/redaction.ts';
import type { WireLine, WireLog } from '../../domain/agent/model-traffic.ts';

/** Lines are whole up to here; then they have only ids and names of calls, and at twice the size nothing is added any more. */
const FULL = 8 * 1024 * 1024;
/** Exchanges that held nothing, such as a refused one or a list of models: an agent must not fill the file with them. */
const EMPTY_MAX = 1_000;

/** A run's `wire.jsonl`, as its writer has it. */
export class WireFile {
  readonly #path: string;
  readonly #redaction: Redaction;
  #size: number;
  #empty = 0;
  #missed = false;
  /** The file says that something is missing. */
  #marked = false;

  constructor(path: string, redaction = NO_REDACTION) {
    this.#path = path;
    this.#redaction = redaction;
    this.#size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Never throws: what a full disk does not take is missing there, and told as such once there is room. */
  append(line: WireLine): void {
    if (line.type === 'exchange' && !line.usage && line.calls.length + line.results.length === 0) {
      this.#empty += 1;
      if (this.#empty > EMPTY_MAX) return;
    }
    const room = this.#size <= 2 * FULL && this.#write(this.#size > FULL ? thin(line) : line);
    this.#missed ||= !room;
    if (this.#missed && !this.#marked) this.#marked = this.#write({ type: 'full', at: line.at });
  }

  #write(line: WireLine): boolean {
    // A full disk may have cut the line before.
    const text = `${this.#missed ? '\n' : ''}${JSON.stringify(this.#redaction.deep(line))}\n`;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      appendFileSync(this.#path, text, { mode: 0o600 });
    } catch {
      return false;
    }
    this.#size += Buffer.byteLength(text);
    return true;
  }
}

const thin = (line: WireLine): WireLine =>
  line.type === 'exchange'
    ? { ...line, results: [], calls: line.calls.map((call) => ({ ...call, input: call.input.slice(0, 20) })) }
    : line;

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
      // An answer with an error holds no call.
      log.whole &&= said.unread === undefined || (said.status ?? 0) >= 400;
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
