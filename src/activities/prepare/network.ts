import type { WirePlace } from '../../adapters/proxy/client.ts';
import type { Allowed } from '../../adapters/proxy/egress.ts';
import { hostsIn, registryHosts } from '../../adapters/network/registries.ts';
import type { Way } from '../../adapters/sandbox/plan.ts';
import {
  hostOfUrl,
  hostRule,
  permit,
  REACHES,
  type Egress,
  type HostRule,
  type Narrowing,
  type NetworkUse,
  type Reach,
} from '../../domain/task/network.ts';
import { isUrl, repositoryName } from '../../domain/repository/repository-name.ts';
import type { Coder } from '../../ports.ts';
import type { Account } from '../credentials/credentials.ts';
import type { Deps } from '../worker/context.ts';

/** A tree's way out, and the variables by which programs find it. */
export interface Out {
  plan: { way?: Way };
  env: Record<string, string>;
  /** Who gives it none. */
  offlineBy?: string;
}

type Needs = Pick<Deps, 'config' | 'env' | 'home' | 'isolation' | 'proxy'>;

/** A coder under an account; `proxied`: its calls go through the model proxy, and need no host. */
export interface ModelUse {
  coder: Coder;
  account: Pick<Account, 'env'>;
  /** URL that its calls go to where they are not proxied, as far as its configuration tells. */
  gateway: string | undefined;
  proxied: boolean;
}

/** Whose repository's host may be reached, and what others than the worker's owner make narrower. */
interface Asked {
  repo: string | undefined;
  narrowed?: readonly Narrowing[] | undefined;
}

/**
 * Opens the way out of an agent's tree, for as long as the run's place with the model proxy is open. `reached`: the file where it is
 * noted what the agent reaches.
 */
export async function agentsWay(
  deps: Needs,
  { place, repo, narrowed = [], reached, ...model }: ModelUse & Asked & { place: WirePlace; reached?: string },
): Promise<Out> {
  const { name } = model.coder;
  const own = deps.config.coders[name]?.network;
  const byCoder = own ? [{ by: `coders.${name}.network of the worker's config.yaml`, reach: own }] : [];
  const egress = await egressOf(deps, { use: 'agents', repo, narrowed: [...byCoder, ...narrowed], model });
  const offline = offlineOut(egress);
  if (offline) return offline;
  if (!model.proxied) await deps.proxy.hold({ id: place.id, file: place.file });
  return deps.proxy.during((port) => Promise.resolve(outBy(deps, port, { egress: egress!, reached })));
}

/** Runs a command of a repository with the way out that its owner gives it. */
export async function withWay<T>(
  deps: Needs,
  asked: Asked & { use: 'setup' | 'checks' },
  work: (out: Out) => Promise<T>,
): Promise<T> {
  const egress = await egressOf(deps, asked);
  const offline = offlineOut(egress);
  return offline ? work(offline) : deps.proxy.during((port) => work(outBy(deps, port, { egress: egress! })));
}

const outBy = ({ home }: Needs, port: number, { egress, reached }: Allowed): Out => ({
  plan: {
    way: {
      ...{ port, services: servicesIn(egress, port), socket: home.egressSocket, egress },
      ...(reached === undefined ? {} : { reached }),
    },
  },
  env: proxyVariables(port),
});

/** Undefined: there is something to be reached. */
function offlineOut(egress: Egress | undefined): Out | undefined {
  const none = egress?.find(({ model, open, hosts }) => !model && !open && hosts.length === 0);
  if (egress && !none) return undefined;
  return { plan: {}, env: {}, ...(none ? { offlineBy: none.by } : {}) };
}

/** Its own loopback is another one, and no client asks a proxy for that: what is listed there leads out under the same port. */
const servicesIn = (egress: Egress, own: number): number[] => [
  ...new Set(
    egress[0].hosts.flatMap(({ host, port, listed }) => {
      const service = listed && port !== undefined && port !== own && LOOPBACK.includes(host);
      return service && 'listed' in permit(egress, { host, port }) ? port : [];
    }),
  ),
];
const LOOPBACK = ['localhost', '127.0.0.1'];

/** Undefined: without namespaces a tree has the machine's network. */
async function egressOf(
  deps: Needs,
  { use, narrowed = [], ...of }: Asked & { use: NetworkUse; model?: ModelUse },
): Promise<Egress | undefined> {
  if (deps.isolation !== 'namespace') return undefined;
  const owners = { by: `network.${use} of the worker's config.yaml`, reach: deps.config.network[use] };
  const first = await reachOf(deps, owners, of);
  return [first, ...(await Promise.all(narrowed.map((one) => reachOf(deps, one, of))))];
}

async function reachOf(
  { config, env }: Needs,
  { by, reach }: Narrowing,
  { repo, model }: { repo: string | undefined; model?: ModelUse },
): Promise<Reach> {
  const named = reach.filter((word) => !REACHES.some((known) => known === word));
  const hosts: HostRule[] = [
    ...rules(named, true),
    ...(reach.includes('registries') ? rules(await registryHosts(env), true) : []),
    ...(reach.includes('repository') && repo && isUrl(repo) ? rules([hostOfRepository(repo)], false) : []),
    ...(reach.includes('model') && model && !model.proxied ? modelHosts(config, model) : []),
  ];
  return { by, model: reach.includes('model'), open: reach.includes('open'), hosts };
}

const rules = (hosts: readonly string[], listed: boolean): HostRule[] =>
  hosts.flatMap((text) => {
    const rule = hostRule(text);
    return rule ? [{ ...rule, ...(listed ? { listed: true as const } : {}) }] : [];
  });

function hostOfRepository(repo: string): string {
  const { host = '', port } = hostOfUrl(repo) ?? { host: repositoryName(repo).split('/', 1)[0] };
  return port === undefined ? host : `${host}:${port}`;
}

/** What the CLI asks by itself, and whatever URL its owner gave it. */
function modelHosts(config: Deps['config'], { coder, account, gateway = '' }: ModelUse): HostRule[] {
  const { hosts = [], args = [], command = [] } = config.coders[coder.name] ?? {};
  const texts = [...Object.values(account.env), gateway, ...args, ...command];
  return [...rules(coder.hosts ?? [], false), ...rules([...hosts, ...texts.flatMap(hostsIn)], true)];
}

const DIRECT = 'localhost,127.0.0.1,::1';

function proxyVariables(port: number): Record<string, string> {
  const url = `http://127.0.0.1:${port}`;
  const both = (name: string, value: string) => [name, name.toLowerCase()].map((one) => [one, value] as const);
  return {
    ...Object.fromEntries(['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => both(name, url))),
    ...Object.fromEntries(both('NO_PROXY', DIRECT)),
    ...{ npm_config_proxy: url, npm_config_https_proxy: url, npm_config_noproxy: DIRECT },
    // Node's own fetch, where it knows of proxies.
    NODE_USE_ENV_PROXY: '1',
  };
}
