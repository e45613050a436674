import { createServer as createHttp, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  hostOfUrl,
  hostRule,
  modelRefused,
  permit,
  plainHost,
  type Egress,
  type Target,
} from '../../domain/network.ts';
import { isPrivate, PRIVATE_CODE } from '../public-address.ts';
import { readBegin } from './client-hello.ts';
import { checkBehindParent, dialTo, lookupFor, parentFor } from './dial.ts';

/** Between two neighbours on the way. */
const HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'host'],
]);
const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';
const HEADERS_MS = 15_000;
/** For the first bytes of a tunnel, which say whom it asks for. */
const BEGIN_MS = 10_000;
const BEGIN_MAX = 64 * 1024;
const CONNECTIONS_MAX = 4_000;
const TLS_PORT = 443;

/**
 * The way out of process trees that have no other network. Each connection begins with a line of our own process outside of the
 * tree, the `Egress` as JSON; behind the answer `ok` it speaks HTTP to a proxy: the model's paths, absolute URLs, CONNECT.
 */
export class EgressProxy {
  readonly server: Server;
  readonly #egress = new WeakMap<Duplex, Egress>();
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
      const egress = this.#egress.get(request.socket)!;
      const url = ownPath(request.url ?? '', own());
      if (!url.startsWith('/')) return void this.#forward(request, response, egress);
      request.url = url;
      const refused = modelRefused(egress);
      if (refused === undefined) model(request, response);
      else refuse(response, refused);
    });
    http.on('connect', (request, socket, head) => void this.#tunnel(request, socket, head));
    http.on('clientError', (_, socket) => socket.destroy());
    const egressOf = this.#egress;
    this.server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      let line = '';
      socket.on('data', function take(bytes) {
        line += String(bytes);
        if (!line.endsWith('\n')) return;
        socket.off('data', take);
        egressOf.set(socket, JSON.parse(line) as Egress);
        socket.write('ok\n');
        http.emit('connection', socket);
      });
    });
    this.server.maxConnections = CONNECTIONS_MAX;
  }

  async #forward(request: IncomingMessage, response: ServerResponse, egress: Egress): Promise<void> {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    const url = request.url ?? '';
    const target = url.startsWith('http://') ? hostOfUrl(url) : undefined;
    const said = hostRule(request.headers.host ?? '');
    if (!target || !sameTarget(target, said))
      return refuse(response, 'this is no request to a proxy: its URL and its Host do not agree');
    const to = { host: target.host, port: target.port ?? 80 };
    const allowed = allow(egress, to);
    if ('why' in allowed) return refuse(response, allowed.why);
    const { pathname, search, host, href } = new URL(url);
    const parent = parentFor(to, 'plain', this.#env);
    try {
      if (parent) await checkBehindParent(to, allowed);
    } catch (error) {
      const { why, status } = unreached(error, to, egress);
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
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    upstream.on('error', (error) => {
      if (response.headersSent) return void response.destroy();
      const { why, status } = unreached(error, to, egress);
      refuse(response, why, status);
    });
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  }

  async #tunnel(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const egress = this.#egress.get(socket)!;
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
    const allowed = allow(egress, to);
    if ('why' in allowed) return refused(allowed.why);
    const [{ hosts, by }] = egress;
    if (to.port === 80 && !hosts.some(({ host, port }) => host === to.host && port === 80))
      return refused(`CONNECT leads to port 443: ${by} lists no ${to.host}:80`);
    let upstream: Socket;
    try {
      upstream = await dialTo(to, allowed, this.#env);
    } catch (error) {
      const { why, status } = unreached(error, to, egress);
      return refused(why, status);
    }
    upstream.on('error', () => socket.destroy()).on('close', () => socket.destroy());
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

const privateWhy = ({ host, port }: Target, [{ by }]: Egress): string =>
  `${host} leads to a private address: ${by} does not list ${host}:${port}`;

function unreached(error: unknown, to: Target, egress: Egress): { why: string; status: number } {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === PRIVATE_CODE) return { why: privateWhy(to, egress), status: 403 };
  return { why: `${to.host} cannot be reached: ${message || code}`, status: 502 };
}

/** The first bytes of a tunnel, where they ask for no other server than the tunnel does; undefined: it is not to go on. */
function firstBytes(socket: Duplex, head: Buffer, { host, port }: Target): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let bytes = head;
    const end = (answer: Buffer | undefined) => {
      clearTimeout(late);
      socket.off('data', more).off('close', gone).pause();
      resolve(answer);
    };
    const gone = () => end(undefined);
    const late = setTimeout(gone, BEGIN_MS);
    const look = () => {
      const begin = readBegin(bytes);
      if (begin.is === 'short') return bytes.length > BEGIN_MAX && end(undefined);
      if (begin.is === 'other') return end(port === TLS_PORT ? undefined : bytes);
      const named = begin.name === undefined ? isAddress(host) : plainHost(begin.name) === host;
      return end(named ? bytes : undefined);
    };
    const more = (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      look();
    };
    socket.on('data', more).on('close', gone);
    if (bytes.length > 0) look();
  });
}

const isAddress = (host: string): boolean => host.includes(':') || /^[\d.]+$/.test(host);

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
