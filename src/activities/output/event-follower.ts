import { appendFile, mkdir, readFile, stat, truncate } from 'node:fs/promises';
import { LineReader } from '../../adapters/program/line-reader.ts';
import { readSegments } from '../../adapters/state/log-segments.ts';
import { addUsage, NO_USAGE, type AgentEvent, type StoredEvent, type Usage } from '../../domain/agent/event.ts';
import type { Quota } from '../../domain/agent/quota.ts';
import type { Coder } from '../../ports.ts';
import { unlessDisk } from '../worker/persist.ts';

const CHUNK = 256 * 1024;
const CHUNKS = 16;
/** Bytes of events kept of one run; its usage and its end are kept beyond them. */
const EVENTS_MAX = 16 * 1024 * 1024;
const REFUSED_KEPT = 3;
const REFUSED_CHARS = 200;
/** Tool calls under way at one time. */
const CALLS_MAX = 1_000;
const STEPS: ReadonlySet<AgentEvent['type']> = new Set(['tool-call', 'tool-result', 'usage']);
const BULKY: ReadonlySet<AgentEvent['type']> = new Set(['text', 'tool-call', 'tool-result']);

/**
 * Turns an agent's output into events. All that it knows is derived from `events.jsonl` and the log, so that after a
 * worker's restart a new follower goes on at the offset where the old one stopped.
 */
export class Follower {
  /** The newest event. */
  last: StoredEvent | undefined;
  usage: Usage = NO_USAGE;
  /** What the run's model proxy has counted so far, where it has one. */
  wired: { usage: Usage; model: string | null } | undefined;
  session: string | null = null;
  model: string | null = null;
  text = '';
  until: string | null = null;
  quota: Quota | undefined;
  waiting: string | null = null;
  /** What the agent went on without, newest last. */
  readonly refused: string[] = [];
  ended: Extract<AgentEvent, { type: 'ended' }> | null = null;
  lastAt: string | undefined;
  /** Tool calls and their results so far, and answers of the model that the coder counted: each is progress. */
  steps = 0;

  /** The newest tool call without a result. */
  get tool(): StoredEvent | undefined {
    return [...this.#calls.values()].at(-1);
  }

  readonly #calls = new Map<string, StoredEvent>();
  readonly #heartbeat: NonNullable<Coder['heartbeat']>;
  readonly #log: { dir: string; stream: 'stdout' };
  readonly #file: string;
  readonly #parse: ReturnType<Coder['parser']>;
  readonly #lines: LineReader;
  readonly #structured: boolean;
  /** Used again for each read: a new one each time would add up to 100 MB of what is only collected in the end. */
  readonly #buffer = Buffer.allocUnsafeSlow(CHUNK);
  #read: number;
  #kept = 0;
  /** Events that a full disk has not taken yet; they go before any later ones. */
  #unwritten = '';
  #written = 0;

  private constructor(files: { events: string; logs: string }, coder: Coder, stored: StoredEvent[]) {
    this.#file = files.events;
    this.#log = { dir: files.logs, stream: 'stdout' };
    this.#heartbeat = (line) => coder.heartbeat?.(line) ?? false;
    this.#parse = coder.parser(stored);
    this.#structured = coder.structured;
    for (const event of stored) this.#take(event);
    this.#kept = stored.reduce((bytes, event) => bytes + JSON.stringify(event).length, 0);
    this.#read = stored.at(-1)?.offset ?? 0;
    this.#lines = new LineReader(this.#read);
  }

  static async open(files: { dir: string; events: string; logs: string }, coder: Coder): Promise<Follower> {
    await mkdir(files.dir, { recursive: true });
    await dropTornLine(files.events);
    const follower = new Follower(files, coder, await readEvents(files.events));
    follower.#written = (await stat(files.events).catch(() => undefined))?.size ?? 0;
    return follower;
  }

  /** Bytes of output read so far. */
  get read(): number {
    return this.#read;
  }

  /** Reads what is there, a few MB at a time. `final`: all of it; the agent has ended, the last line may lack its line break. */
  async drain(final: boolean): Promise<void> {
    for (let chunk = 0; final || chunk < CHUNKS; chunk += 1) {
      const piece = await readSegments(this.#log, this.#read, this.#buffer);
      if (piece.bytes.length === 0) break;
      this.#read = piece.next;
      if (this.#structured) await this.#store(this.#lines.push(piece.bytes, piece.gap));
      // What it prints means nothing, but that it prints.
      else this.lastAt = new Date().toISOString();
    }
    if (final) await this.#store(this.#lines.flush());
  }

  async #store(lines: { line: string; offset: number }[]): Promise<void> {
    const at = new Date().toISOString();
    const work = lines.filter(({ line }) => !this.#heartbeat(line));
    if (work.length > 0) this.lastAt = at;
    const events = work.flatMap(({ line, offset }) => this.#parse(line).map((event) => ({ ...event, at, offset })));
    for (const event of events) this.#take(event);
    const text = events
      .filter(({ type }) => this.#kept < (BULKY.has(type) ? EVENTS_MAX : 2 * EVENTS_MAX))
      .map((event) => `${JSON.stringify(event)}\n`)
      .join('');
    this.#kept += text.length;
    this.#unwritten += text;
    await this.flush().catch(unlessDisk);
  }

  /** Writes what a full disk has not taken so far. @throws where it still does not */
  async flush(): Promise<void> {
    if (!this.#unwritten) return;
    const bytes = Buffer.from(this.#unwritten);
    try {
      await appendFile(this.#file, bytes);
    } catch (error) {
      await truncate(this.#file, this.#written).catch(() => undefined);
      throw error;
    }
    this.#written += bytes.length;
    this.#unwritten = '';
  }

  #refuse(what: string): void {
    this.refused.push(what.slice(0, REFUSED_CHARS));
    if (this.refused.length > REFUSED_KEPT) this.refused.shift();
  }

  #take(event: StoredEvent): void {
    this.lastAt = event.at;
    this.last = event;
    if (STEPS.has(event.type)) this.steps += 1;
    if (event.type === 'started') {
      this.session = event.session ?? this.session;
      this.model = event.model ?? this.model;
    }
    if (event.type === 'text') this.text = event.text;
    if (event.type === 'tool-call' && this.#calls.size < CALLS_MAX) this.#calls.set(event.id, event);
    if (event.type === 'tool-result') this.#calls.delete(event.id);
    if (event.type === 'usage') this.usage = addUsage(this.usage, event);
    if (event.type === 'waiting') this.waiting = event.what;
    if (event.type === 'refused') this.#refuse(event.what);
    if (event.type === 'quota') this.quota = { part: event.part, ...(event.until ? { until: event.until } : {}) };
    if (event.type === 'rate-limited') this.until = event.until ?? this.until;
    // It works again.
    if (event.type === 'tool-result') this.until = null;
    if (event.type === 'ended') this.ended = event;
  }
}

/** A line that a crash cut short would spoil the next one. */
async function dropTornLine(file: string): Promise<void> {
  const bytes = await readFile(file).catch(() => undefined);
  if (bytes?.length && bytes.at(-1) !== 10) await truncate(file, bytes.lastIndexOf(10) + 1);
}

/** The events of a run, oldest first; a torn last line is left out. */
export async function readEvents(file: string): Promise<StoredEvent[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').flatMap((line) => {
    try {
      return line ? [JSON.parse(line) as StoredEvent] : [];
    } catch {
      return [];
    }
  });
}
