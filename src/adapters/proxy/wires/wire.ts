import { sha256 } from '../../sha256.ts';
import { object, objects, text, type Json } from '../../../domain/values/json.ts';
import type { WireCall, WireUsage } from '../../../domain/agent/model-traffic.ts';

/** One API's words for tool calls, their results, tokens and errors. Nothing here throws for what it reads. */
export interface Reader {
  /** One event of a streamed answer, or the whole of a plain one. */
  take(body: Json, found: Found): void;
  /** Whether an event, unread, can only be a piece of text: most are, and reading them all would be most of the work. */
  isText?(data: string, found: Found): boolean;
  /** What the model is told of its calls in this request. */
  results(body: Json): Told[];
}

export interface Told {
  id: string | null;
  text: string;
}

/** A result's content: as it is where it is a text, the texts of its parts, or JSON. */
export function told(value: unknown): string {
  if (typeof value === 'string') return value;
  const parts = objects(value);
  return parts.length > 0 && parts.every((part) => typeof part['text'] === 'string')
    ? parts.map((part) => text(part['text'])).join('\n')
    : (JSON.stringify(value) ?? '');
}

const CALLS_MAX = 500;
const INPUT_MAX = 4 * 1024 * 1024;
const SHOWN_MAX = 200;
const LABEL_MAX = 200;

interface Begun {
  id: string | null;
  name: string;
  pieces: string[];
  length: number;
}

/** What an answer said, as far as it was read. */
export class Found {
  readonly calls: WireCall[] = [];
  usage: WireUsage | undefined;
  model: string | undefined;
  error: { code: string; message: string; body: Json } | undefined;
  unread: string | undefined;
  readonly #begun = new Map<string, Begun>();

  /** A call whose input comes in pieces. */
  begin(key: string, { id, name }: { id: unknown; name: unknown }): void {
    if (this.#begun.size >= CALLS_MAX) return this.miss();
    this.#begun.set(key, { id: label(id) || null, name: label(name), pieces: [], length: 0 });
  }

  has(key: string): boolean {
    return this.#begun.has(key);
  }

  append(key: string, piece: string): void {
    const call = this.#begun.get(key);
    if (!call) return;
    call.length += piece.length;
    if (call.length <= INPUT_MAX) call.pieces.push(piece);
    else this.miss();
  }

  end(key: string): void {
    const call = this.#begun.get(key);
    if (!call) return;
    this.#begun.delete(key);
    this.call({ id: call.id, name: call.name, input: parsed(call.pieces.join('') || '{}') });
  }

  endAll(): void {
    for (const key of this.#begun.keys()) this.end(key);
  }

  /** A call as a whole; one with the same id is the same. */
  call({ id, name, input }: { id: unknown; name: unknown; input: unknown }): void {
    const known = label(id) || null;
    if (known !== null && this.calls.some((call) => call.id === known)) return;
    if (this.calls.length >= CALLS_MAX) return this.miss();
    const whole = typeof input === 'string' ? input : (JSON.stringify(input) ?? '');
    this.calls.push({
      id: known,
      name: label(name),
      sha256: sha256(whole),
      input: (commandIn(input) ?? whole).slice(0, SHOWN_MAX),
    });
  }

  fail(error: Json, body: Json): void {
    const code = text(error['code']) || text(error['status']) || text(error['type']);
    this.error = { code, message: text(error['message']), body };
  }

  miss(): void {
    this.unread ??= 'it has more, or larger, tool calls than are read';
  }
}

/** The command of a shell tool: what people look for. */
function commandIn(input: unknown): string | undefined {
  const asked = object(input);
  const command = asked?.['command'] ?? asked?.['cmd'];
  if (typeof command === 'string') return command;
  return Array.isArray(command) ? command.map(String).join(' ') : undefined;
}

/** JSON as its value, anything else as the text that it is. */
export function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const label = (value: unknown): string => text(value).slice(0, LABEL_MAX);
