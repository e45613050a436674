import type { WirePlace } from '../adapters/proxy/client.ts';
import { hostsIn, registryHosts } from '../adapters/registries.ts';
import type { Way } from '../adapters/sandbox/plan.ts';
import { hostOfUrl, hostRule, REACHES, type Egress, type HostRule } from '../domain/network.ts';
import { isUrl, repositoryName } from '../domain/repository-name.ts';
import type { Coder } from '../ports.ts';
import type { Account } from './account.ts';
import type { Deps } from './context.ts';

/** A tree's way out, and the variables by which programs find it. */
export interface Out {
  plan: { way?: Way };
  env: Record<string, string>;
}
const NO_WAY: Out = { plan: {}, env: {} };

type Uses = 'agents' | 'setup' | 'checks';
type Needs = Pick<Deps, 'config' | 'env' | 'home' | 'isolation' | 'proxy'>;

/** A coder under an account; `proxied`: its calls go through the model proxy, and need no host. */
export interface ModelUse {
  coder: Coder;
  account: Pick<Account, 'env'>;
  proxied: boolean;
}

/**
 * Opens the way out of an agent's tree, for as long as the run's place with the model proxy is open. `only`: its model, and
 * nothing else of what agents may reach.
 */
export async function agentsWay(
  deps: Needs,
  { place, repo, only, ...model }: ModelUse & { place: WirePlace; repo: string | undefined; only?: 'model' },
): Promise<Out> {
  const egress = await egressOf(deps, { use: 'agents', repo, model, ...(only ? { only } : {}) });
  if (!egress) return NO_WAY;
  if (!model.proxied) await deps.proxy.hold({ id: place.id, file: place.file });
  return deps.proxy.during((port) => Promise.resolve(outBy(deps, port, egress)));
}

/** Runs a command of a repository with the way out that its owner gives it. */
export async function withWay<T>(
  deps: Needs,
  { use, repo }: { use: 'setup' | 'checks'; repo: string | undefined },
  work: (out: Out) => Promise<T>,
): Promise<T> {
  const egress = await egressOf(deps, { use, repo });
  return egress ? deps.proxy.during((port) => work(outBy(deps, port, egress))) : work(NO_WAY);
}

const outBy = ({ home }: Needs, port: number, egress: Egress): Out => ({
  plan: { way: { port, services: servicesIn(egress, port), socket: home.egressSocket, egress } },
  env: proxyVariables(port),
});

/** Its own loopback is another one, and no client asks a proxy for that: what is listed there leads out under the same port. */
const servicesIn = ({ hosts }: Egress, own: number): number[] => [
  ...new Set(
    hosts.flatMap(({ host, port, listed }) =>
      listed && port !== undefined && port !== own && LOOPBACK.includes(host) ? port : [],
    ),
  ),
];
const LOOPBACK = ['localhost', '127.0.0.1'];

/** Undefined: nothing at all. */
async function egressOf(
  { config, env, isolation }: Needs,
  { use, repo, model, only }: { use: Uses; repo: string | undefined; model?: ModelUse; only?: 'model' },
): Promise<Egress | undefined> {
  if (isolation !== 'namespace') return undefined;
  const asked = config.network[use].filter((word) => only === undefined || word === only);
  const named = asked.filter((word) => !REACHES.some((reach) => reach === word));
  const hosts: HostRule[] = [
    ...rules(named, true),
    ...(asked.includes('registries') ? rules(await registryHosts(env), true) : []),
    ...(asked.includes('repository') && repo && isUrl(repo) ? rules([hostOfRepository(repo)], false) : []),
    ...(asked.includes('model') && model && !model.proxied ? modelHosts(config, model) : []),
  ];
  const egress = { key: `network.${use}`, model: asked.includes('model'), open: asked.includes('open'), hosts };
  return egress.model || egress.open || hosts.length > 0 ? egress : undefined;
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
function modelHosts(config: Deps['config'], { coder, account }: ModelUse): HostRule[] {
  const { hosts = [], args = [], command = [] } = config.coders[coder.name] ?? {};
  const texts = [...Object.values(account.env), ...args, ...command];
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
