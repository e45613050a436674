import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Transform } from 'node:stream';
import type { WireExchange, WireResult } from '../../domain/agent/model-traffic.ts';
import { failureOf, quotaOf, resetOf, usedOf, type Headers } from './limits.ts';
import { EventReader } from './wires/sse.ts';
import { object, objects, type Json } from '../../domain/values/json.ts';
import { sha256 } from '../sha256.ts';
import { Found, parsed, type Reader, type Told } from './wires/wire.ts';

/** Bytes of a body that is read as a whole: a longer one is passed on, and noted. While one is read, no other run is served. */
const BODY_MAX = { request: 4 * 1024 * 1024, answer: 32 * 1024 * 1024 };
/** Bytes of all requests that are being read at one time: an agent may send what it likes. */
const REQUESTS_MAX = 128 * 1024 * 1024;
/** Tool results of one request: more are not told. */
const RESULTS_MAX = 500;
const MESSAGE_MAX = 300;
const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const PING = /^\{\s*"type"\s*:\s*"(?:ping|keepalive)"/;

let requests = 0;

/** A copy of a body as it goes by, with a limit. */
class Copy {
  readonly #isRequest: boolean;
  size = 0;

  constructor(isRequest: boolean) {
    this.#isRequest = isRequest;
  }

  #chunks: Buffer[] | undefined = [];
  #held = 0;

  push(bytes: Buffer): void {
    this.size += bytes.length;
    if (
      this.size > BODY_MAX[this.#isRequest ? 'request' : 'answer'] ||
      (this.#isRequest && requests + bytes.length > REQUESTS_MAX)
    )
      this.drop();
    if (!this.#chunks) return;
    this.#chunks.push(bytes);
    this.#held += bytes.length;
    if (this.#isRequest) requests += bytes.length;
  }

  /** Undefined where it was too long. */
  take(): Buffer | undefined {
    const whole = this.#chunks && Buffer.concat(this.#chunks);
    this.drop();
    return whole;
  }

  drop(): void {
    if (this.#isRequest) requests -= this.#held;
    [this.#chunks, this.#held] = [undefined, 0];
  }
}

/** Listens to one exchange while it goes by, and never holds it up. */
export class Meter {
  readonly #reader: Reader | undefined;
  readonly #startedAt = Date.now();
  readonly #started = performance.now();
  readonly #found = new Found();
  readonly #request = new Copy(true);
  readonly #path: string;
  #answer: Copy | undefined;
  #events: EventReader | undefined;
  #decoder: Transform | undefined;
  #headers: Headers = {};
  #status: number | null = null;
  #firstByteMs: number | null = null;
  #unread: string | undefined;
  #unreadRequest: string | undefined;
  #failed: WireExchange['error'];
  #results: WireResult[] | undefined;
  sent = 0;
  received = 0;
  /** Bytes of a model's answer that say something: neither an error, nor what only keeps the connection open. */
  answered = 0;
  /** It is the model's turn: the request is complete, and the agent has taken what there is of the answer. */
  waits = false;
  /** By `performance.now()`: of a byte in either direction. */
  lastByte = performance.now();

  constructor({ path, reader }: { path: string; reader: Reader | undefined }) {
    this.#path = path;
    this.#reader = reader;
  }

  request(bytes: Buffer): void {
    this.sent += bytes.length;
    this.lastByte = performance.now();
    if (this.#reader) this.#request.push(bytes);
  }

  /** The request is complete: it is read while the model thinks. */
  asked(): void {
    this.#results ??= this.#told()
      .slice(-RESULTS_MAX)
      .map(({ id, text }) => ({ id, sha256: sha256(text) }));
  }

  begin(status: number, headers: Headers): void {
    this.#status = status;
    this.#headers = headers;
    const coding = headers['content-encoding'] ?? 'identity';
    if (coding !== 'identity') {
      this.#decoder = DECODERS[coding]?.();
      if (!this.#decoder) this.#unread = `its answer is encoded as ${coding.slice(0, 40)}`;
      this.#decoder?.on('data', (bytes: Buffer) => this.#read(bytes)).on('error', () => this.#garbled());
    }
    if (/^text\/event-stream/i.test(headers['content-type'] ?? '')) this.#events = new EventReader();
    else this.#answer = new Copy(false);
  }

  answer(bytes: Buffer): void {
    this.#firstByteMs ??= performance.now() - this.#started;
    this.received += bytes.length;
    this.lastByte = performance.now();
    if (!this.#reader && this.#status !== null && this.#status < 400) return;
    // What cannot be read may say something.
    if (!this.#events || this.#unread !== undefined) this.#says(bytes.length);
    if (this.#decoder) this.#decoder.write(bytes);
    else if (this.#unread === undefined) this.#read(bytes);
  }

  /** The model's server was not reached. */
  unreached(message: string): void {
    this.#failed = { failure: 'overloaded', message: message.slice(0, MESSAGE_MAX) };
  }

  /** What it came to. `fresh` keeps the results that no earlier request had. */
  async end(fresh: (results: WireResult[]) => WireResult[], cut: boolean): Promise<WireExchange> {
    const ms = performance.now() - this.#started;
    if (!cut) await this.#complete();
    this.#decoder?.destroy();
    this.#answer?.drop();
    this.asked();
    const results = fresh(this.#results ?? []);
    const { calls, usage, model, unread = this.#unread } = this.#found;
    const error = this.#failed ?? this.#error();
    const until = error && resetOf(this.#headers, this.#found.error?.body, Date.now());
    const quota = quotaOf(this.#headers);
    const used = usedOf(this.#headers);
    return {
      type: 'exchange',
      at: new Date(this.#startedAt).toISOString(),
      path: this.#path.slice(0, 200),
      status: this.#status,
      ...(model ? { model: model.slice(0, 100) } : {}),
      firstByteMs: this.#firstByteMs === null ? null : Math.round(this.#firstByteMs),
      ms: Math.round(ms),
      ...{ sent: this.sent, received: this.received, calls, results },
      ...(usage ? { usage } : {}),
      ...(error ? { error } : {}),
      ...(until ? { until } : {}),
      ...(quota ? { quota } : {}),
      ...(used ? { used } : {}),
      ...(cut ? { cut: true as const } : {}),
      ...(unread === undefined ? {} : { unread }),
      ...(this.#unreadRequest === undefined ? {} : { unreadRequest: this.#unreadRequest }),
    };
  }

  async #complete(): Promise<void> {
    if (this.#decoder) await flushed(this.#decoder);
    if (this.#events) for (const data of this.#events.end()) this.#event(data);
    if (this.#events?.dropped) this.#unread ??= 'it has events of more than 8 MB';
    if (this.#answer) this.#whole(this.#answer.take());
    this.#found.endAll();
  }

  #error(): WireExchange['error'] {
    const { error } = this.#found;
    const status = this.#status ?? 0;
    if (!error && status < 400) return undefined;
    const { code, message } = error ?? { code: '', message: '' };
    const failure = failureOf(status, { code, message }) ?? 'agent-error';
    return { failure, message: [status, code, message].filter(Boolean).join(' ').slice(0, MESSAGE_MAX) };
  }

  #read(bytes: Buffer): void {
    if (this.#events) for (const data of this.#events.push(bytes)) this.#event(data);
    else this.#answer?.push(bytes);
  }

  #says(length: number): void {
    if ((this.#status ?? 0) < 400) this.answered += length;
  }

  #event(data: string): void {
    if (!PING.test(data)) this.#says(data.length);
    if (data === '[DONE]' || this.#reader?.isText?.(data, this.#found)) return;
    const event = object(parsed(data));
    if (event) this.#reader?.take(event, this.#found);
    else this.#garbled();
  }

  #whole(bytes: Buffer | undefined): void {
    if (bytes === undefined) this.#unread ??= 'its answer is too long to be read';
    else if (bytes.length > 0) {
      const body = parsed(bytes.toString('utf8'));
      // Gemini streams an array where no events were asked for.
      const said = object(body) ? [body as Json] : objects(body);
      if (said.length === 0) this.#garbled();
      for (const one of said) {
        if (this.#reader) this.#reader.take(one, this.#found);
        else if (object(one['error'])) this.#found.fail(object(one['error'])!, one);
      }
    }
  }

  #told(): Told[] {
    if (!this.#reader) return [];
    const bytes = this.#request.take();
    const body = bytes && object(parsed(bytes.toString('utf8')));
    this.#unreadRequest = body ? undefined : bytes ? 'it is no JSON' : 'it is too long';
    try {
      return body ? this.#reader.results(body) : [];
    } catch {
      this.#unreadRequest = 'it is nested too deeply';
      return [];
    }
  }

  #garbled(): void {
    if (this.#reader) this.#unread ??= 'its answer cannot be read';
  }
}

function flushed(decoder: Transform): Promise<void> {
  return new Promise((resolve) => {
    decoder.once('end', resolve).once('close', resolve).once('error', resolve);
    decoder.end();
  });
}
