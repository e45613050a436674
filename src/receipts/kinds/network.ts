import { formatBytes } from '../../domain/values/bytes.ts';
import type { ReachedLine } from '../../domain/task/network.ts';
import type { Finding } from '../../domain/evidence/receipt.ts';
import type { Evidence, ReceiptCollector } from '../../ports.ts';
import { counted, named } from '../bounded.ts';

const HOSTS_MAX = 12;
const NAMED_MAX = 4;
const NAME_MAX = 64;

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
  collect: ({ reached, policy, outcome }) => Promise.resolve(notHeld({ policy, outcome }) ?? findingOf(reached)),
};

function notHeld({ policy, outcome }: Pick<Evidence, 'policy' | 'outcome'>): Finding | undefined {
  const narrowed = policy.network.agents?.at(-1);
  if (!narrowed || outcome.isolation === 'namespace') return undefined;
  return { ok: true, summary: `was not held to ${narrowed.by}: that needs namespaces`, evidence: { held: false } };
}

function findingOf({ lines, all }: Evidence['reached']): Finding | undefined {
  if (lines.length === 0) return undefined;
  const hosts = tally(lines.filter(({ is }) => is !== 'refused'));
  const refused = tally(lines.filter(({ is }) => is === 'refused'));
  const reached = `reached ${counted(hosts.length, 'host')}: ${named(hosts.map(shortly), NAMED_MAX)}`;
  const names = named(
    refused.map(({ host }) => host),
    NAMED_MAX,
  );
  const said = [
    ...(hosts.length > 0 ? [reached] : all ? ['reached no host'] : []),
    ...(refused.length > 0 ? [`was refused ${names}`] : []),
    ...(all ? [] : ['there was more than could be noted']),
  ];
  return {
    ok: true,
    summary: said.join('; '),
    evidence: {
      hosts: hosts.slice(0, HOSTS_MAX),
      refused: refused.slice(0, HOSTS_MAX).map(({ host, requests }) => ({ host, requests })),
      ...(hosts.length + refused.length > HOSTS_MAX ? { all: { hosts: hosts.length, refused: refused.length } } : {}),
      ...(all ? {} : { cut: true }),
    },
  };
}

const shortly = ({ host, requests, up, down }: Host): string =>
  `${host} (${counted(requests, 'request')}, ${formatBytes(up + down)})`;

/** By host and port; most asked first. */
function tally(lines: readonly ReachedLine[]): Host[] {
  const hosts = new Map<string, Host>();
  for (const { is, host: name, port, up = 0, down = 0 } of lines) {
    const host = port === 443 || port === 80 ? name : `${name}:${port}`;
    const one = hosts.get(host) ?? { host, requests: 0, up: 0, down: 0 };
    hosts.set(host, one);
    if (is !== 'closed') one.requests += 1;
    one.up += up;
    one.down += down;
  }
  return [...hosts.values()].map(shown).sort((one, other) => other.requests - one.requests);
}

/** The end of a name tells whose it is. */
const shown = (one: Host): Host =>
  one.host.length > NAME_MAX ? { ...one, host: `…${one.host.slice(-NAME_MAX)}` } : one;
