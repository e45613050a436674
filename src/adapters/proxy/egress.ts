import { createServer as createHttp, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  hostOfUrl,
  hostRule,
  modelRefused,
  permit,
  type Egress,
  type ReachedLine,
  type Target,
} from '../../domain/task/network.ts';
import { isPrivate, PRIVATE_CODE } from '../network/public-address.ts';
import { checkBehindParent, dialTo, lookupFor, parentFor } from './dial.ts';
import { firstBytes } from './first-bytes.ts';
import { noteReached, type ReachedFile } from './reached.ts';

/** Between two neighbours on the way. */
const HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'host'],
]);
const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';
const HEADERS_MS = 15_000;
const CONNECTIONS_MAX = 4_000;

/** What our own process outside of a tree says of it. */
export interface Allowed {
  egress: Egress;
  /** The file where it is noted what the tree reaches. */
  reached?: ReachedFile;
}

/**
 * The way out of process trees that have no other network. Each connection begins with a line of our own process outside of the
 * tree, an `Allowed` as JSON; behind the answer `ok` it speaks HTTP to a proxy: the model's paths, absolute URLs, CONNECT.
 */
export class EgressProxy {
  readonly server: Server;
  readonly #allowed = new WeakMap<Duplex, Allowed>();
  readonly #http = createHttp({ requestTimeout: 0, headersTimeout: HEADERS_MS, keepAliveTimeout: 60_000 });
  readonly #own: () => Target;
  readonly #env: NodeJS.ProcessEnv;

  /** `model` answers what is asked of the proxy itself; `own` is where a tree finds it; `env` names a proxy that this machine needs. */
  constructor(
    model: (request: IncomingMessage, response: ServerResponse) => void,
    own: () => Target,
    env: NodeJS.ProcessEnv = process.env,
  ) {
    this.#own = own;
    this.#env = env;
    const http = this.#http;
    http.on('request', (request, response) => {
      const allowed = this.#allowed.get(request.socket)!;
      const url = ownPath(request.url ?? '', own());
      if (!url.startsWith('/')) return void this.#forward(request, response, allowed);
      request.url = url;
      const refused = modelRefused(allowed.egress);
      if (refused === undefined) model(request, response);
      else refuse(response, refused);
    });
    http.on('connect', (request, socket, head) => void this.#tunnel(request, socket, head));
    http.on('clientError', (_, socket) => socket.destroy());
    const allowedOf = this.#allowed;
    this.server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      let line = '';
      socket.on('data', function take(bytes) {
        line += String(bytes);
        if (!line.endsWith('\n')) return;
        socket.off('data', take);
        allowedOf.set(socket, JSON.parse(line) as Allowed);
        socket.write('ok\n');
        http.emit('connection', socket);
      });
    });
    this.server.maxConnections = CONNECTIONS_MAX;
  }

  async #forward(request: IncomingMessage, response: ServerResponse, { egress, reached }: Allowed): Promise<void> {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    const url = request.url ?? '';
    const target = url.startsWith('http://') ? hostOfUrl(url) : undefined;
    const said = hostRule(request.headers.host ?? '');
    if (!target || !sameTarget(target, said))
      return refuse(response, 'this is no request to a proxy: its URL and its Host do not agree');
    const to = { host: target.host, port: target.port ?? 80 };
    const note = noteOf(reached, to);
    const allowed = allow(egress, to);
    if ('why' in allowed) {
      note('refused');
      return refuse(response, allowed.why);
    }
    const { pathname, search, host, href } = new URL(url);
    const parent = parentFor(to, 'plain', this.#env);
    try {
      if (parent) await checkBehindParent(to, allowed);
    } catch (error) {
      const { why, status } = unreached(error, { to, egress, note });
      return refuse(response, why, status);
    }
    const { authorization } = parent ?? {};
    const upstream = ask({
      ...(parent
        ? { host: parent.host, port: parent.port, path: href }
        : { host: to.host, port: to.port, path: pathname + search, lookup: lookupFor(allowed) }),
      ...{ method: request.method, agent: false, timeout: 0, setHost: false },
      headers: {
        ...endToEnd(request.headers),
        ...{ host, ...(authorization ? { 'proxy-authorization': authorization } : {}) },
      },
    });
    // Whether it answers or not: it can have been told something.
    upstream.once('socket', (to) =>
      to.once('connect', () => {
        note('open');
        to.once('close', () => note('closed', to));
      }),
    );
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    upstream.on('error', (error) => {
      if (response.headersSent) return void response.destroy();
      const { why, status } = unreached(error, { to, egress, note });
      refuse(response, why, status);
    });
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  }

  async #tunnel(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const { egress, reached } = this.#allowed.get(socket)!;
    const refused = (why: string, status = 403) => {
      const text = `fleet: ${why}\n`;
      const reason = status === 403 ? 'Forbidden' : 'Bad Gateway';
      const headers = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close`;
      socket.end(`HTTP/1.1 ${status} ${reason}\r\n${headers}\r\n\r\n${text}`);
    };
    const target = hostRule(request.url ?? '');
    const said = hostRule(request.headers.host ?? request.url ?? '');
    if (target?.port === undefined || target.host.includes('*') || !sameTarget(target, said))
      return refused('CONNECT and its Host do not name one host and port');
    const to = { host: target.host, port: target.port };
    if (sameTarget(to, this.#own())) {
      socket.write(ESTABLISHED);
      return void this.#http.emit('connection', socket);
    }
    const note = noteOf(reached, to);
    const allowed = tunnelTo(egress, to);
    if ('why' in allowed) {
      note('refused');
      return refused(allowed.why);
    }
    let upstream: Socket;
    try {
      upstream = await dialTo(to, allowed, this.#env);
    } catch (error) {
      const { why, status } = unreached(error, { to, egress, note });
      return refused(why, status);
    }
    note('open');
    upstream.on('error', () => socket.destroy()).on('close', () => (note('closed', upstream), socket.destroy()));
    socket.on('close', () => upstream.destroy());
    socket.write(ESTABLISHED);
    upstream.pipe(socket);
    const begin = await firstBytes(socket, head, to);
    if (!begin) return void socket.destroy();
    upstream.write(begin);
    socket.pipe(upstream);
  }
}

function allow(egress: Egress, to: Target): ReturnType<typeof permit> {
  const allowed = permit(egress, to);
  return 'listed' in allowed && !allowed.listed && isPrivate(to.host) ? { why: privateWhy(to, egress) } : allowed;
}

function tunnelTo(egress: Egress, to: Target): ReturnType<typeof permit> {
  const [{ hosts, by }] = egress;
  const allowed = allow(egress, to);
  if ('why' in allowed || to.port !== 80 || hosts.some(({ host, port }) => host === to.host && port === 80))
    return allowed;
  return { why: `CONNECT leads to port 443: ${by} lists no ${to.host}:80` };
}

type Note = (is: ReachedLine['is'], socket?: Pick<Socket, 'bytesWritten' | 'bytesRead'>) => void;
const noteOf =
  (file: ReachedFile, to: Target): Note =>
  (is, socket) =>
    noteReached(file, { is, ...to, ...(socket ? { up: socket.bytesWritten, down: socket.bytesRead } : {}) });

const privateWhy = ({ host, port }: Target, [{ by }]: Egress): string =>
  `${host} leads to a private address: ${by} does not list ${host}:${port}`;

function unreached(
  error: unknown,
  { to, egress, note }: { to: Target; egress: Egress; note: Note },
): { why: string; status: number } {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === PRIVATE_CODE) note('refused');
  if (code === PRIVATE_CODE) return { why: privateWhy(to, egress), status: 403 };
  return { why: `${to.host} cannot be reached: ${message || code}`, status: 502 };
}

function sameTarget(one: { host: string; port?: number }, other: { host: string; port?: number } | undefined): boolean {
  return one.host === other?.host && (other.port === undefined || one.port === undefined || one.port === other.port);
}

/** Some clients ask the proxy by its own URL, whatever NO_PROXY says. */
function ownPath(url: string, { host, port }: Target): string {
  const own = `http://${host}:${port}/`;
  return url.startsWith(own) ? url.slice(own.length - 1) : url;
}

function endToEnd(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/\s*,\s*/));
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || HOP.has(name) || named.has(name) ? [] : [[name, value] as const],
    ),
  );
}

function refuse(response: ServerResponse, why: string, status = 403): void {
  const text = `fleet: ${why}\n`;
  response.writeHead(status, {
    'content-type': 'text/plain',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  });
  response.end(text);
}
