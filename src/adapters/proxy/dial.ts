import { lookup } from 'node:dns/promises';
import { connect, type LookupFunction, type Socket } from 'node:net';
import { plainHost, type Target } from '../../domain/task/network.ts';
import { guardedLookup, hasPrivate, isPrivate } from '../network/public-address.ts';

const CONNECT_MS = 15_000;
const HEAD_MAX = 16 * 1024;

/** A proxy that this machine itself needs. */
export interface Parent extends Target {
  authorization?: string;
}

/** By the worker's environment: HTTPS_PROXY for tunnels, HTTP_PROXY for plain requests, NO_PROXY. Never for a private address. */
export function parentFor(to: Target, way: 'tunnel' | 'plain', env: NodeJS.ProcessEnv): Parent | undefined {
  const named = (name: string) => env[name.toLowerCase()] || env[name];
  const text = named(way === 'tunnel' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  const direct = (named('NO_PROXY') ?? '').split(/[\s,]+/).filter(Boolean);
  if (!text || !URL.canParse(text) || isPrivate(to.host) || direct.some((entry) => covers(entry, to.host)))
    return undefined;
  const { hostname, port, protocol, username, password } = new URL(text);
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    ...{ host: plainHost(hostname), port: Number(port || (protocol === 'https:' ? 443 : 80)) },
    ...(username ? { authorization: `Basic ${Buffer.from(user).toString('base64')}` } : {}),
  };
}

/** An entry of NO_PROXY: `*`, a host, or the end of its name. */
function covers(entry: string, host: string): boolean {
  const name = entry
    .replace(/:\d+$/, '')
    .replace(/^\*?\./, '')
    .toLowerCase();
  return name === '*' || host === name || host.endsWith(`.${name}`);
}

export const lookupFor = ({ listed }: { listed: boolean }): LookupFunction => guardedLookup({ mayAsk: () => listed });

/** Behind a proxy names may have no address here; one that has only private ones is refused all the same. @throws EPRIVATE */
export async function checkBehindParent({ host }: Target, { listed }: { listed: boolean }): Promise<void> {
  const found = listed ? [] : await lookup(host, { all: true }).catch(() => []);
  if (found.length > 0 && found.every(({ address }) => isPrivate(address))) throw hasPrivate(host);
}

/** A connection to a host, whose first bytes are the host's. */
export async function dialTo(to: Target, allowed: { listed: boolean }, env: NodeJS.ProcessEnv): Promise<Socket> {
  const parent = parentFor(to, 'tunnel', env);
  if (!parent) return open({ ...to, lookup: lookupFor(allowed) });
  await checkBehindParent(to, allowed);
  const socket = await open(parent);
  const authority = to.host.includes(':') ? `[${to.host}]:${to.port}` : `${to.host}:${to.port}`;
  const authorization = parent.authorization ? `Proxy-Authorization: ${parent.authorization}\r\n` : '';
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`);
  const head = await answered(socket);
  if (/^HTTP\/1\.\d 200\b/.test(head)) return socket;
  socket.destroy();
  throw new Error(`the proxy ${parent.host}:${parent.port} answers ${head.split('\r\n', 1)[0]?.slice(0, 100)}`);
}

function open(to: Target & { lookup?: LookupFunction }): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...to, autoSelectFamily: true });
    const late = setTimeout(() => socket.destroy(new Error('no answer in time')), CONNECT_MS);
    socket.once('error', reject).once('connect', () => {
      clearTimeout(late);
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('close', () => clearTimeout(late));
  });
}

/** The head of the proxy's answer; what is behind it stays to be read. */
function answered(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const late = setTimeout(() => socket.destroy(new Error('no answer in time')), CONNECT_MS);
    const gone = (error?: Error | boolean) => {
      clearTimeout(late);
      reject(error instanceof Error ? error : new Error('the proxy closed the connection'));
    };
    const more = (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      const end = bytes.indexOf('\r\n\r\n');
      if (end === -1)
        return bytes.length > HEAD_MAX && void socket.destroy(new Error('the answer of the proxy has no end'));
      clearTimeout(late);
      socket.off('data', more).off('error', gone).off('close', gone).pause();
      if (bytes.length > end + 4) socket.unshift(bytes.subarray(end + 4));
      resolve(bytes.toString('latin1', 0, end));
    };
    socket.on('data', more).once('error', gone).once('close', gone);
  });
}
