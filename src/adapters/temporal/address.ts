import { lookup } from 'node:dns/promises';
import { createConnection } from 'node:net';
import { networkInterfaces } from 'node:os';

/** `host:port`, and `[host]:port` for IPv6. */
export function splitAddress(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(address.slice(colon + 1)) };
}

/** Whether it names this machine: loopback, or an address of one of its interfaces. A name that nobody knows does not. */
export async function isOfThisMachine(address: string): Promise<boolean> {
  const found = await lookup(splitAddress(address).host, { all: true }).catch(() => []);
  const own = new Set(Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((each) => each.address)));
  return found.length > 0 && found.every((each) => each.address.startsWith('127.') || own.has(each.address));
}

/** Whether anything accepts TCP connections there, within `ms` milliseconds. */
export function listens(address: string, ms = 1_000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(splitAddress(address));
    const end = (open: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(open);
    };
    const timer = setTimeout(() => end(false), ms);
    socket.once('connect', () => end(true)).on('error', () => end(false));
  });
}
