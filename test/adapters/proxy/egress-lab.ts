import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { EgressProxy } from '../../../src/adapters/proxy/egress.ts';
import type { HostRule, Reach, ReachedLine } from '../../../src/domain/task/network.ts';
import { readReached } from '../../../src/adapters/proxy/reached.ts';
import { tempDir } from '../../helpers/temp.ts';

export const OWN = { host: '127.0.0.1', port: 20_123 };
const OWNERS: Reach = { by: "network.agents of the worker's config.yaml", model: true, open: false, hosts: [] };
const SILENCE_MS = 5_000;

export interface EgressLab extends AsyncDisposable {
  /** On loopback: answers each connection with what it got in its first piece, as HTTP. */
  port: number;
  /** What reached it. */
  seen: string[];
  /** A folder. */
  root: string;
  /** What is noted. */
  reached(): ReachedLine[];
  /** Says `text` on a way out, and gives all that comes back until the end, or `enough` is there. */
  say(reach: Partial<Reach>, text: string | Buffer[], enough?: RegExp): Promise<string>;
}

/** The proxy in this process, without a tree in front of it. */
export async function egressLab(env: NodeJS.ProcessEnv = {}): Promise<EgressLab> {
  const temp = await tempDir();
  const seen: string[] = [];
  const target = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        seen.push(bytes.toString('latin1'));
        socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nreached`);
      });
  });
  await listening(target, 0);
  const { server } = new EgressProxy(
    (_, response) => response.end('the model'),
    () => OWN,
    env,
  );
  const path = `${temp.path}/egress.sock`;
  const reached = `${temp.path}/reached`;
  await listening(server, path);
  const open = new Set<Socket>();
  return {
    port: (target.address() as AddressInfo).port,
    seen,
    root: temp.path,
    reached: () => readReached(reached).lines,
    async say(reach, text, enough = /$^/) {
      const socket = connect(path);
      open.add(socket);
      socket.write(`${JSON.stringify({ egress: [{ ...OWNERS, ...reach }], reached })}\n`);
      await new Promise((resolve) => socket.once('data', resolve));
      const pieces = typeof text === 'string' ? [Buffer.from(text, 'latin1')] : text;
      let got = '';
      return new Promise<string>((resolve) => {
        const late = setTimeout(() => resolve(`${got} (silence)`), SILENCE_MS);
        const done = () => (clearTimeout(late), socket.destroy(), resolve(got));
        socket.on('error', () => undefined).on('close', done);
        socket.on('data', (bytes) => {
          got += bytes.toString('latin1');
          if (enough.test(got)) return done();
          const next = pieces.shift();
          if (next) socket.write(next);
        });
        socket.write(pieces.shift()!);
      });
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      target.close();
      await temp[Symbol.asyncDispose]();
    },
  };
}

function listening(server: Server, at: number | string): Promise<void> {
  return new Promise((resolve) => {
    if (typeof at === 'string') server.listen(at, resolve);
    else server.listen(at, '127.0.0.1', resolve);
  });
}

export const listed = (host: string, port: number): HostRule => ({ host, port, listed: true });

/** The first bytes of a TLS client that asks for a server by that name. */
export async function clientHello(servername: string | undefined): Promise<Buffer> {
  const { connect: connectTls } = await import('node:tls');
  const server = createServer();
  await listening(server, 0);
  try {
    return await new Promise<Buffer>((resolve) => {
      server.once('connection', (socket) => socket.once('data', (bytes) => (resolve(bytes), socket.destroy())));
      const { port } = server.address() as AddressInfo;
      connectTls({ host: '127.0.0.1', port, ...(servername ? { servername } : {}) }).on('error', () => undefined);
    });
  } finally {
    server.close();
  }
}
