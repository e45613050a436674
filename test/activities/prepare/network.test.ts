import { expect, test } from '@jest/globals';
import { agentsWay, withWay } from '../../../src/activities/prepare/network.ts';
import { schema } from '../../../src/config-schema.ts';
import { modelRefused, permit, type Egress, type Narrowing } from '../../../src/domain/task/network.ts';

type Deps = Parameters<typeof agentsWay>[0];

function deps(config: object): Deps {
  const proxy = { during: (work: (port: number) => unknown) => work(20_000), hold: () => Promise.resolve() };
  return {
    ...{ config: schema.parse(config), env: {}, home: { egressSocket: '/egress.sock' } },
    ...{ isolation: 'namespace', proxy },
  } as unknown as Deps;
}

const MODEL = { coder: { name: 'claude' }, account: { env: {} }, gateway: undefined, proxied: true } as unknown as Omit<
  Parameters<typeof agentsWay>[1],
  'repo' | 'place'
>;

const agents = async (config: object, narrowed: Narrowing[]) =>
  agentsWay(deps(config), { ...MODEL, repo: 'https://git.example.net/a.git', narrowed, place: { id: 'a', file: 'a' } });

const egress = async (config: object, narrowed: Narrowing[]): Promise<Egress> =>
  (await agents(config, narrowed)).plan.way!.egress;

const TASK = 'network of the task';
const refused = (by: string, host: string) => ({ why: `${host} cannot be reached from here: ${by} does not list it` });

test('a task makes narrower what its agent reaches, and the refusal names it', async () => {
  const way = await egress({}, [{ by: TASK, reach: ['model'] }]);
  expect(modelRefused(way)).toBeUndefined();
  expect(permit(way, { host: 'git.example.net', port: 443 })).toEqual(refused(TASK, 'git.example.net'));
});

test('nobody makes it wider: what the worker does not list is refused by its key', async () => {
  const way = await egress({ network: { agents: ['repository'] } }, [
    { by: TASK, reach: ['open', 'repository', 'model', '10.0.0.7:5432'] },
  ]);
  const owners = "network.agents of the worker's config.yaml";
  expect(permit(way, { host: 'git.example.net', port: 443 })).toEqual({ listed: false });
  expect(permit(way, { host: 'example.org', port: 443 })).toEqual(refused(owners, 'example.org'));
  expect(permit(way, { host: '10.0.0.7', port: 5432 })).toEqual(refused(owners, '10.0.0.7'));
  expect(modelRefused(way)).toBe(`no model can be reached from here: ${owners} does not list it`);
});

test('a private address is reached where the owner lists it, and the others allow its host', async () => {
  const config = { network: { agents: ['*.corp.example', '127.0.0.1:11434'] } };
  const to = { host: 'db.corp.example', port: 443 };
  expect(permit(await egress(config, [{ by: TASK, reach: ['*.example'] }]), to)).toEqual({ listed: true });
  // The task's word alone is no leave for a private address.
  const open = { network: { agents: ['open'] } };
  expect(permit(await egress(open, [{ by: TASK, reach: ['*.example'] }]), to)).toEqual({ listed: false });
  const services = async (reach: string[]) => (await agents(config, [{ by: TASK, reach }])).plan.way?.services;
  expect(await services(['127.0.0.1:11434'])).toEqual([11_434]);
  expect(await services(['*.example'])).toEqual([]);
});

test('of one under a login, the gateway that its own configuration names', async () => {
  const login = {
    ...MODEL,
    gateway: 'http://10.0.0.7:8080/v1',
    proxied: false,
    repo: undefined,
    place: { id: 'a', file: 'a' },
  };
  const { plan } = await agentsWay(deps({}), login);
  expect(permit(plan.way!.egress, { host: '10.0.0.7', port: 8080 })).toEqual({ listed: true });
});

test('a coder has a list of its own', async () => {
  const way = await egress({ coders: { claude: { network: ['model'] } } }, []);
  const by = "coders.claude.network of the worker's config.yaml";
  expect(permit(way, { host: 'git.example.net', port: 443 })).toEqual(refused(by, 'git.example.net'));
});

test('where one of them lists nothing there is no way, and it is told who', async () => {
  expect(await agents({}, [{ by: TASK, reach: ['none'] }])).toEqual({ plan: {}, env: {}, offlineBy: TASK });
  const setup = (config: object, narrowed: Narrowing[]) =>
    withWay(deps(config), { use: 'setup', repo: undefined, narrowed }, (out) => Promise.resolve(out.offlineBy));
  const file = { by: 'network.setup of .fleet.yaml', reach: ['none'] };
  expect(await setup({ network: { setup: ['example.org'] } }, [file])).toBe(file.by);
  expect(await setup({ network: { setup: ['example.org'] } }, [])).toBeUndefined();
  expect(await setup({ network: { setup: ['none'] } }, [file])).toBe("network.setup of the worker's config.yaml");
});
