import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { ownDevServer } from './dev-server.ts';
import { processTable } from '../program/process.ts';
import { isOfThisMachine, splitAddress } from './address.ts';

/** Temporal's dev server is this program. A member of a cluster is another one, `temporal-server`: without it the others serve. */
const PROGRAM = 'temporal';
const LISTEN = '0A';

/**
 * Tells whether what listens at an address is Temporal's dev server on this machine: `home`'s own, or any that this user may
 * look at. An address of this machine is not enough: a tunnel ends here, and behind it the server serves others while the
 * tunnel is broken. False also where it cannot be told; undefined where nothing listens on this machine.
 */
export function livesHere(address: string, home: string): () => Promise<boolean | undefined> {
  const { port } = splitAddress(address);
  // Looking through all processes takes time. A socket stays with its server.
  let known = '';
  const isTemporal = (sockets: string[]): boolean => {
    const key = sockets.join();
    if (known !== key && areTemporal(sockets)) known = key;
    return known === key;
  };
  return async () => {
    const own = await ownDevServer(home);
    const isOwn = own !== undefined && splitAddress(own.address).port === port;
    const sockets = process.platform === 'linux' ? socketsAt(port) : [];
    if (!isOwn && sockets.length === 0) return undefined;
    return (await isOfThisMachine(address)) && (isOwn || isTemporal(sockets));
  };
}

/** `socket:[inode]` of each that listens at a port, on whichever address: see proc_net_tcp(5). */
const socketsAt = (port: number): string[] => ['tcp', 'tcp6'].flatMap((table) => listening(table, port));

function listening(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return orNone(() => readFileSync(`/proc/self/net/${table}`, 'latin1').split('\n')).flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    return state === LISTEN && local.endsWith(`:${hex}`) ? `socket:[${inode}]` : [];
  });
}

/** Whether each is held by Temporal's program, or by what it started: temporal-dev.sh has a forwarder beside the server. */
function areTemporal(sockets: string[]): boolean {
  const table = processTable();
  const parents = (pid: number): number[] => (pid > 1 ? [pid, ...parents(table.get(pid)?.parent ?? 0)] : []);
  const holders = [...table.keys()].flatMap((pid) => {
    const held = descriptors(pid).filter((link) => sockets.includes(link));
    return held.length > 0 && parents(pid).some((at) => programOf(at) === PROGRAM) ? held : [];
  });
  return sockets.every((socket) => holders.includes(socket));
}

const descriptors = (pid: number): string[] =>
  orNone(() => readdirSync(`/proc/${pid}/fd`)).flatMap((fd) => orNone(() => [readlinkSync(`/proc/${pid}/fd/${fd}`)]));

/** Also where the file was replaced since. */
const programOf = (pid: number): string =>
  basename(orNone(() => [readlinkSync(`/proc/${pid}/exe`)])[0] ?? '').replace(/ \(deleted\)$/, '');

/** None of a process that has ended, or is somebody else's. */
function orNone<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch {
    return [];
  }
}
