import { fits } from '../values/wildcard.ts';

/** What a process tree may reach beside hosts by name. `model`: its coder's; `registries`: what this machine's package clients are set up for. */
export const REACHES = ['none', 'model', 'registries', 'repository', 'open'] as const;

export interface HostRule {
  /** Lower case; `*` is any part of a name. */
  host: string;
  /** Missing: 80 and 443. */
  port?: number;
  /** The worker's owner wrote it: it may have a private address. */
  listed?: true;
}

/** Who runs in a tree. */
export type NetworkUse = 'agents' | 'setup' | 'checks';

/** Words and hosts that somebody allows, of what others do. */
export interface Narrowing {
  by: string;
  reach: readonly string[];
}

/** What somebody says that a process tree may reach. */
export interface Reach {
  /** Who says it, and would have to say more: `network.agents of the worker's config.yaml`. */
  by: string;
  /** Its coder's model, by the model proxy. */
  model: boolean;
  /** Every host that has a public address. */
  open: boolean;
  hosts: HostRule[];
}

/** What a process tree may reach by its way out: what all of them allow. The first is its worker's owner's. */
export type Egress = readonly [Reach, ...Reach[]];

/** What a tree's way out wrote: `open` for each request or tunnel, `closed` with its bytes, and what was refused. */
export interface ReachedLine extends Target {
  is: 'open' | 'closed' | 'refused';
  up?: number;
  down?: number;
}

const WEB = [80, 443];

export interface Target {
  host: string;
  port: number;
}

type Permitted = { listed: boolean } | { why: string };

/** Whether it may be reached: `listed`, also at a private address. Else a sentence that says who would have to allow it. */
export function permit(egress: Egress, target: Target): Permitted {
  const all = egress.map((reach) => permitBy(reach, target));
  return all.find((one) => 'why' in one) ?? all[0]!;
}

function permitBy({ hosts, open, by }: Reach, { host, port }: Target): Permitted {
  const named = hosts.filter((rule) => fits(rule.host, host));
  const rule = named.find((one) => one.port === port || (one.port === undefined && WEB.includes(port)));
  if (rule) return { listed: rule.listed === true };
  if (!open && named.length === 0) return { why: `${host} cannot be reached from here: ${by} does not list it` };
  if (!WEB.includes(port)) return { why: `port ${port} cannot be reached from here: ${by} lists no ${host}:${port}` };
  return { listed: false };
}

/** Why its coder's model may not be asked. */
export function modelRefused(egress: Egress): string | undefined {
  const first = egress.find(({ model }) => !model);
  return first && `no model can be reached from here: ${first.by} does not list it`;
}

/** Reads `example.org`, `*.example.org:8080` or `[::1]:80`; undefined for anything else. */
export function hostRule(text: string): HostRule | undefined {
  const { host, port } = /^(?<host>\[[0-9a-f:.]+\]|[a-z0-9*_.-]+)(?::(?<port>\d{1,5}))?$/i.exec(text)?.groups ?? {};
  if (host === undefined || Number(port ?? 1) > 65_535 || /^\.|\.\./.test(host)) return undefined;
  return { host: plainHost(host), ...(port === undefined ? {} : { port: Number(port) }) };
}

/** Lower case, without the brackets of an address and the dot at the end of a name. */
export const plainHost = (host: string): string => host.toLowerCase().replace(/^\[|\]$|\.$/g, '');

/** The host and port of an http or https URL. */
export function hostOfUrl(url: string): HostRule | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  if ((protocol !== 'http:' && protocol !== 'https:') || hostname === '') return undefined;
  return { host: plainHost(hostname), ...(port === '' ? {} : { port: Number(port) }) };
}
