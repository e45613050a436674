import { bothEnds, type AgentEvent, type CoderFailure } from '../domain/agent/event.ts';
import { TEXT_MAX, TOOL_MAX } from '../domain/values/json.ts';

/** How a conversation ended. */
export interface End {
  ok: boolean;
  text: string;
  failure?: CoderFailure;
  /** When the limit is over that it ran into: ISO time. */
  until?: string | undefined;
}

const FLUSH_AT = 2_000;
const BUSY_EVERY_MS = 5_000;

/** Prints events, one JSON a line; nothing after the end, which comes once. */
export class Printer {
  /** The last whole message. */
  said = '';
  readonly #write: (line: string) => void;
  readonly #redact: (text: string) => string;
  readonly #started = new Set<string>();
  readonly #answered = new Set<string>();
  #piece = '';
  #message = '';
  #messageId: string | undefined;
  #busyAt = 0;
  #over = false;

  constructor(write: (line: string) => void, redact: (text: string) => string) {
    this.#write = write;
    this.#redact = redact;
  }

  print(event: Exclude<AgentEvent, { type: 'tool-call' | 'tool-result' | 'ended' }>): void {
    this.#flush();
    if (event.type !== 'usage') this.#messageEnds();
    this.#line(event);
  }

  /** Text that a message says whole. */
  text(text: string): void {
    this.endMessage();
    this.piece(text);
    this.endMessage();
  }

  /** What comes next is another message. */
  endMessage(): void {
    this.#flush();
    this.#messageEnds();
  }

  /** The next part of a message; one without an id belongs to the one before, until something else happens. */
  piece(text: string, id?: string): void {
    if (id !== this.#messageId && this.#message) {
      this.#flush();
      this.#messageEnds();
    }
    this.#messageId = id;
    this.#piece += text;
    this.#message = bothEnds(this.#message + text, 10 * TEXT_MAX);
    if (this.#piece.length > FLUSH_AT) this.#flush();
  }

  /** A call is told once. */
  call(id: string, name: string, input: string): void {
    if (this.#started.has(id)) return;
    this.#started.add(id);
    this.#flush();
    this.#messageEnds();
    this.#line({ type: 'tool-call', id, name, input });
  }

  /** So is its result, and only of a call that was told. */
  result(id: string, ok: boolean, output: string): void {
    if (!this.#started.has(id) || this.#answered.has(id)) return;
    this.#answered.add(id);
    this.#flush();
    this.#line({ type: 'tool-result', id, ok, output: bothEnds(output, TOOL_MAX) });
  }

  /** Something happened that is no event, e.g. a thought: a sign of work. Holds what there is of a message no longer. */
  busy(): void {
    const now = performance.now();
    if (now - this.#busyAt < BUSY_EVERY_MS) return;
    this.#busyAt = now;
    this.#flush();
    if (!this.#over) this.#write('{"type":"busy"}\n');
  }

  ended({ ok, text, failure, until }: End): void {
    this.#flush();
    this.#messageEnds();
    if (failure === 'rate-limited') this.#line({ type: 'rate-limited', ...(until ? { until } : {}) });
    this.#line({ type: 'ended', ok, text: bothEnds(text, TEXT_MAX), ...(failure ? { failure } : {}) });
    this.#over = true;
  }

  #flush(): void {
    const text = this.#piece;
    this.#piece = '';
    if (text.trim()) this.#line({ type: 'text', text: bothEnds(text, TEXT_MAX) });
  }

  #messageEnds(): void {
    if (this.#message.trim()) this.said = this.#message.trim();
    this.#message = '';
    this.#messageId = undefined;
  }

  #line(event: AgentEvent): void {
    if (this.#over) return;
    this.#write(
      `${JSON.stringify(event, (_key, value) => (typeof value === 'string' ? this.#redact(value) : value))}\n`,
    );
  }
}
