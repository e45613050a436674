import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { request as fetchFrom, type Dispatcher } from 'undici';
import type { Headers } from './limits.ts';
import { Meter } from './meter.ts';
import type { Route } from './routes.ts';
import type { OpenRun } from './run.ts';

/** Between two neighbours on the way, or ours to say. */
const OWN = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['proxy-authenticate', 'proxy-authorization', 'host', 'cookie', 'set-cookie', 'forwarded', 'via', 'alt-svc'],
  // By which account: a wrong one would be refused, and the credential with it.
  ...['openai-organization', 'openai-project', 'x-goog-user-project'],
  // What the agent shows as its key.
  ...['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'],
  'accept-encoding',
]);

const LONG_WAIT_S = 30;
/** No model answers sooner: time to read its request. */
const THINKING_MS = 30;

export interface Passed {
  run: OpenRun;
  route: Route;
  /** Behind the run's base URL. */
  path: string;
  /** Without `?`, may be empty. */
  query: string;
  dispatcher: Dispatcher;
}

/** Passes one request on to the run's model with the real key, and the answer back, each piece as it comes. */
export async function forward(request: IncomingMessage, response: ServerResponse, passed: Passed): Promise<void> {
  const { run, route, path, query, dispatcher } = passed;
  const { upstream } = run.order;
  const meter = new Meter({ path, reader: route.reader });
  const { signal, end } = run.begin(meter);
  meter.waits = !hasBody(request.headers);
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    const behind = upstream.versioned ? path.replace(/^\/v\d\w*/, '') : path;
    const answer = await fetchFrom(`${upstream.url.replace(/\/$/, '')}${behind}${query && `?${query}`}`, {
      method: request.method as Dispatcher.HttpMethod,
      headers: { ...passedOn(request.headers), 'accept-encoding': 'identity', ...upstream.headers },
      body: hasBody(request.headers) ? request.pipe(listening(meter)) : null,
      signal: AbortSignal.any([signal, gone.signal]),
      dispatcher,
    });
    const headers = flat(answer.headers);
    meter.begin(answer.statusCode, headers);
    // A redirect could lead anywhere, and a client would follow it.
    const redirect = answer.statusCode >= 300 && answer.statusCode < 400 && answer.statusCode !== 304;
    if (redirect) {
      answer.body.destroy();
      answer.body.on('error', () => undefined);
      await end(false);
      return refuse(response, { status: 502, type: 'api_error', message: `the model's server redirects elsewhere` });
    }
    response.writeHead(answer.statusCode, passedBack(answer.headers));
    response.flushHeaders();
    let left = Number(headers['content-length'] ?? Number.NaN);
    for await (const piece of answer.body as AsyncIterable<Buffer>) {
      left -= piece.length;
      // An answer whose length is known ends for the agent with this piece: it is in the file before it can act on that.
      if (left === 0) {
        meter.answer(piece);
        await end(false);
      }
      const room = response.write(piece);
      if (left !== 0) meter.answer(piece);
      if (room) continue;
      meter.waits = false;
      await drained(response, gone.signal);
      meter.waits = true;
    }
    await end(false);
    response.end();
  } catch (error) {
    const stopped = gone.signal.aborted || signal.aborted;
    if (!stopped && !response.headersSent) meter.unreached(reasonOf(error));
    await end(true);
    if (response.headersSent || stopped) response.destroy();
    else
      refuse(response, {
        ...{ status: 502, type: 'api_error' },
        message: `the model's server cannot be reached: ${reasonOf(error)}`,
      });
  }
}

/** An error in words that the clients of every API understand. */
export function refuse(
  response: ServerResponse,
  { status, type, message }: { status: number; type: string; message: string },
): void {
  const body = JSON.stringify({
    type: 'error',
    error: { type, code: status, status: type.toUpperCase(), message: `fleet: ${message}` },
  });
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    // What is left of the request is not read.
    connection: 'close',
  });
  response.end(body);
}

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function listening(meter: Meter): Transform {
  return new Transform({
    transform(piece: Buffer, _, done) {
      meter.request(piece);
      done(null, piece);
    },
    flush(done) {
      meter.waits = true;
      done();
      setTimeout(() => meter.asked(), THINKING_MS).unref();
    },
  });
}

/** Also without what `connection` names. */
function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/\s*,\s*/));
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || OWN.has(name) || named.has(name) ? [] : [[name, value] as const],
    ),
  );
}

const passedBack = (headers: Record<string, string | string[] | undefined>): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || OWN.has(name) || name === 'location' || isLongWait(name, value)
        ? []
        : [[name, value] as const],
    ),
  );

/** A CLI that waits for an hour by itself would hold its slot: the worker knows the time, and ends it without. */
const isLongWait = (name: string, value: string | string[]): boolean =>
  (name === 'retry-after' && !(Number(value) <= LONG_WAIT_S)) ||
  (name === 'retry-after-ms' && !(Number(value) <= LONG_WAIT_S * 1_000));

const flat = (headers: Record<string, string | string[] | undefined>): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value ?? '')]));

/** Until the agent has taken what it was sent, or is gone. */
function drained(response: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const left = () => reject(new Error('the agent is gone'));
    if (gone.aborted) return left();
    gone.addEventListener('abort', left, { once: true });
    response.once('drain', () => {
      gone.removeEventListener('abort', left);
      resolve();
    });
  });
}

/** The innermost cause, which has the words: `connect ECONNREFUSED 127.0.0.1:1`. */
function reasonOf(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner instanceof Error ? inner.message || (inner as NodeJS.ErrnoException).code || inner.name : String(inner);
}
