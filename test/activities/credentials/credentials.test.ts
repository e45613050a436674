import { mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { accountOf, noAccount } from '../../../src/activities/credentials/credentials.ts';
import { coderPlan, type Deps } from '../../../src/activities/worker/context.ts';
import { openModelCalls } from '../../../src/activities/output/model-calls.ts';
import { createCoders } from '../../../src/coders/registry.ts';
import { homeLayout } from '../../../src/domain/names.ts';
import { schema } from '../../../src/config-schema.ts';
import type { Upstream } from '../../../src/domain/agent/upstream.ts';
import { tempDir } from '../../helpers/temp.ts';

const KEY = 'sk-planted-0123456789';
const SETTINGS = '.claude/settings.json';

/** A worker whose own environment has another key, with a login of each kind. */
async function lab(root: string) {
  const home = homeLayout(`${root}/fleet`);
  for (const at of [`${root}/max`, `${root}/other`, `${home.root}/logins/in`]) {
    await mkdir(`${at}/.claude`, { recursive: true });
    await writeFile(`${at}/.claude/.credentials.json`, '{}');
  }
  await writeFile(`${home.root}/key.env`, `ANTHROPIC_API_KEY=${KEY}\n`, { mode: 0o600 });
  const credentials = {
    key: { coder: 'claude', envFile: 'key.env' },
    max: { coder: 'claude', home: '~/max' },
    other: { coder: 'claude', home: '~/other' },
    in: { coder: 'claude', home: 'logins/in' },
  };
  const env = { HOME: root, PATH: '/bin', ANTHROPIC_API_KEY: 'sk-of-the-worker', ANTHROPIC_BASE_URL: 'http://gateway' };
  const deps = {
    ...{ home, env, isolation: 'namespace', worker: { name: 'ada' }, otherHomes: () => [] },
    config: schema.parse({ credentials }),
  } as unknown as Deps;
  const coder = createCoders().get('claude')!;
  const account = (credential: string | null) => accountOf(deps, { record: { credential }, coder });
  return { deps, home, account };
}

test('a run gets the secret of its credential and none of the worker, but where to go', async () => {
  await using temp = await tempDir();
  const { account, home } = await lab(temp.path);
  expect(await account(null)).toEqual({
    env: { ANTHROPIC_API_KEY: 'sk-of-the-worker', ANTHROPIC_BASE_URL: 'http://gateway' },
    ...{ userHome: temp.path, configHome: temp.path },
  });
  // No login that lies in the worker's own HOME either.
  expect(await account('key')).toEqual({
    env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'http://gateway' },
    userHome: `${home.root}/no-login`,
  });
  expect(await account('max')).toEqual({
    ...{ env: { ANTHROPIC_BASE_URL: 'http://gateway' } },
    ...{ userHome: `${temp.path}/max`, login: `${temp.path}/max`, configHome: `${temp.path}/max` },
  });
  expect(await account('gone').catch(noAccount)).toEqual({
    ...{ reason: 'auth', moves: true },
    message: 'credential gone is not configured on ada for claude any more',
  });
});

test('a credential’s key never goes where the worker owner’s own configuration of the CLI leads', async () => {
  await using temp = await tempDir();
  const { deps, account } = await lab(temp.path);
  const settings = (url: string) => JSON.stringify({ env: { ANTHROPIC_BASE_URL: url } });
  await mkdir(`${temp.path}/.claude`);
  await writeFile(`${temp.path}/.claude/settings.json`, settings('https://private-gateway.test'));
  await writeFile(`${temp.path}/max/.claude/settings.json`, settings('https://gateway-of-the-login.test'));
  delete deps.env['ANTHROPIC_BASE_URL'];
  const ways: Upstream[] = [];
  const proxy = { open: ({ upstream }: { upstream: Upstream }) => (ways.push(upstream), { url: '', key: '' }) };
  const call = async (credential: string | null) =>
    openModelCalls({ ...deps, proxy } as unknown as Deps, {
      ...{ id: 'r', file: `${temp.path}/wire`, wireFile: `${temp.path}/wire.jsonl`, model: undefined, secrets: {} },
      ...{ coder: createCoders().get('claude')!, account: await account(credential) },
    });
  const worker = await call(null);
  const team = await call('key');
  expect(ways.map(({ url, headers }) => [url, headers['x-api-key']])).toEqual([
    ['https://private-gateway.test', 'sk-of-the-worker'],
    ['https://api.anthropic.com', KEY],
  ]);
  expect([worker.own, team.own]).toEqual([expect.objectContaining({ [SETTINGS]: expect.anything() }), {}]);
  expect((await call('max')).own).toEqual({ [SETTINGS]: settings('https://gateway-of-the-login.test') });
});

test('of the HOME, an agent sees what its coder links to, may renew its login, and sees what the owner lists', async () => {
  await using temp = await tempDir();
  const { deps } = await lab(temp.path);
  deps.config.sandbox = { read: ['~/.m2'], write: ['/srv/cache'] };
  const files = {
    [`${temp.path}/a`]: { link: `${temp.path}/max/.claude/.credentials.json`, login: true as const },
    [`${temp.path}/b`]: { link: `${temp.path}/.claude/CLAUDE.md` },
    [`${temp.path}/c`]: { text: '' },
    [`${temp.path}/d`]: { link: `${temp.path}/run/tree/CLAUDE.md` },
  };
  expect(
    coderPlan(deps, { show: [{ path: `${temp.path}/run` }], tmp: '/t', sealed: ['/srv/cache/app', '/other'], files }),
  ).toMatchObject({
    read: [`${temp.path}/.m2`, '/srv/cache/app', `${temp.path}/.claude/CLAUDE.md`],
    write: ['/srv/cache', `${temp.path}/max/.claude/.credentials.json`],
  });
});
