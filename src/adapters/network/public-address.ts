import { lookup as resolveName } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Code of the error of a lookup that found only addresses that are not to be asked. */
export const PRIVATE_CODE = 'EPRIVATE';

export const hasPrivate = (host: string): Error =>
  Object.assign(new Error(`${host} has a private address`), { code: PRIVATE_CODE });

/** Answers only addresses that may be asked: what is connected to is what was looked at, whatever a name leads to a moment later. */
export const guardedLookup =
  (rules: {
    /** Whether a host may be asked that has a private address. */
    mayAsk(host: string): boolean;
    /** The system's. */
    resolve?: typeof resolveName | undefined;
    resolved?: () => void;
  }): LookupFunction =>
  (host, options, answered) =>
    (rules.resolve ?? resolveName)(host, { ...options, all: true }, (error, found) => {
      if (!error) rules.resolved?.();
      const open = (found ?? []).filter(({ address }) => !isPrivate(address) || rules.mayAsk(host));
      const [first] = open;
      if (error) answered(error, '');
      else if (!first) answered(hasPrivate(host), '');
      else if (options.all) answered(null, open);
      else answered(null, first.address, first.family);
    });

const NOT_PUBLIC = new BlockList();
for (const [net, bits] of [
  ...[
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    // Where a cloud tells its machines about themselves.
    ['168.63.129.16', 32],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
  ],
  ...[
    ['192.0.0.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ],
] as [string, number][])
  NOT_PUBLIC.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ...[
    ['::', 127],
    ['fc00::', 7],
    ['fe80::', 10],
    ['ff00::', 8],
    ['64:ff9b::', 96],
    ['2002::', 16],
  ],
] as [string, number][])
  NOT_PUBLIC.addSubnet(net, bits, 'ipv6');

/** Whether an address, whatever way it is written, or a name leads to this machine or a private network. */
export function isPrivate(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === 'localhost' || host.endsWith('.localhost');
  return NOT_PUBLIC.check(host, family === 4 ? 'ipv4' : 'ipv6') || isOwn(host);
}

/** This machine's own, also where it is a public one: what listens there may trust its neighbours. */
const isOwn = (host: string): boolean =>
  Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === host));
