import { formatBytes } from '../domain/bytes.ts';
import type { ReachedLine } from '../domain/network.ts';
import type { ReceiptCollector } from '../ports.ts';
import { counted, named } from './bounded.ts';

const HOSTS_MAX = 12;
const NAME_MAX = 80;

interface Host {
  host: string;
  requests: number;
  /** Bytes that were sent, and that came. */
  up: number;
  down: number;
}

/** What the agent reached of the network beside its model by the proxy, and what was refused. It says no to nothing. */
export const network: ReceiptCollector = {
  kind: 'network',
  collect({ reached: { lines, all } }) {
    if (lines.length === 0) return Promise.resolve(undefined);
    const hosts = tally(lines.filter(({ is }) => is !== 'refused'));
    const refused = tally(lines.filter(({ is }) => is === 'refused'));
    const said = [
      hosts.length > 0
        ? `reached ${counted(hosts.length, 'host')}: ${named(hosts.map(shortly), 4)}`
        : 'reached no host',
      ...(refused.length > 0
        ? [
            `was refused ${named(
              refused.map(({ host }) => host),
              4,
            )}`,
          ]
        : []),
      ...(all ? [] : ['there was more than could be noted']),
    ];
    return Promise.resolve({
      ok: true,
      summary: said.join('; '),
      evidence: {
        hosts: hosts.slice(0, HOSTS_MAX),
        refused: refused.slice(0, HOSTS_MAX).map(({ host, requests }) => ({ host, requests })),
        ...(hosts.length + refused.length > HOSTS_MAX ? { all: { hosts: hosts.length, refused: refused.length } } : {}),
        ...(all ? {} : { cut: true }),
      },
    });
  },
};

const shortly = ({ host, requests, up, down }: Host): string =>
  `${host} (${counted(requests, 'request')}, ${formatBytes(up + down)})`;

/** By host and port; most asked first. */
function tally(lines: readonly ReachedLine[]): Host[] {
  const hosts = new Map<string, Host>();
  for (const { is, host: whole, port, up = 0, down = 0 } of lines) {
    const name = whole.slice(0, NAME_MAX);
    const host = port === 443 || port === 80 ? name : `${name}:${port}`;
    const one = hosts.get(host) ?? { host, requests: 0, up: 0, down: 0 };
    hosts.set(host, one);
    if (is !== 'closed') one.requests += 1;
    one.up += up;
    one.down += down;
  }
  return [...hosts.values()].sort((one, other) => other.requests - one.requests);
}
