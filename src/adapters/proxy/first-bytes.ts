import type { Duplex } from 'node:stream';
import { plainHost, type Target } from '../../domain/task/network.ts';
import { readBegin } from './client-hello.ts';

/** Until they say whom they ask for. */
const BEGIN_MS = 10_000;
const BEGIN_MAX = 64 * 1024;
const TLS_PORT = 443;

/** The first bytes of a tunnel, where they ask for no other server than the tunnel does; undefined: it is not to go on. */
export function firstBytes(socket: Duplex, head: Buffer, { host, port }: Target): Promise<Buffer | undefined> {
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
