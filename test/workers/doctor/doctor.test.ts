import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadConfig, type PartialConfig } from '../../../src/config.ts';
import { withoutRepeats } from '../../../src/adapters/disk/put-files.ts';
import { examine } from '../../../src/workers/doctor/doctor.ts';
import { examineContext } from '../../../src/workers/doctor/doctor-context.ts';
import { tempDir } from '../../helpers/temp.ts';

/** A machine with these programs, each of which says its version, and these files in its user's HOME. */
async function machine(programs: Record<string, string>, files: Record<string, string> = {}) {
  const temp = await tempDir();
  const home = `${temp.path}/fleet`;
  const user = `${temp.path}/user`;
  const put = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  for (const [name, version] of Object.entries(programs)) {
    put(`${temp.path}/bin/${name}`, `#!/bin/sh\necho '${version}'\n`);
    chmodSync(`${temp.path}/bin/${name}`, 0o755);
  }
  for (const [path, text] of Object.entries(files)) put(`${temp.path}/${path}`, text);
  const env = { PATH: `${temp.path}/bin:/usr/bin:/bin`, HOME: user };
  const at = (more: PartialConfig = {}, vars: Record<string, string> = {}) => ({
    ...{ home, config: loadConfig({ home, env: {}, flags: more }), env: { ...env, ...vars } },
  });
  return { at, repo: `${temp.path}/repo`, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}
const said = async (at: Parameters<typeof examine>[0]) =>
  Object.fromEntries((await examine(at)).map(({ what, is, says }) => [what, `${is}: ${says}`]));

test('a coder is missing, too old, without a key, or fit for use', async () => {
  await using m = await machine({ claude: '1.0.9 (Claude Code)', codex: 'codex-cli 0.169.0', mine: 'x' });
  const mine = { command: ['mine'], protocol: 'none' as const };
  const bare = await said(m.at({ coders: { mine, gone: { command: ['nowhere'], protocol: 'none' } } }));
  expect(bare['coder claude']).toBe(
    'wrong: too old: it is 1.0.9 (Claude Code) and needs 2.1.0 or later: npm install -g @anthropic-ai/claude-code',
  );
  expect(bare['coder codex']).toMatch(
    /^wrong: codex-cli 0\.169\.0; it has neither a key nor a login: set CODEX_API_KEY/,
  );
  expect(bare['coder mine']).toBe('ok: found');
  expect(bare['coder gone']).toBe('wrong: not here: no program nowhere in PATH');
  const keyed = await said(m.at({}, { CODEX_API_KEY: 'sk-secret' }));
  expect(keyed['coder codex']).toBe(
    'ok: codex-cli 0.169.0; the version that passes the conformance suite; by CODEX_API_KEY',
  );
  expect(JSON.stringify(keyed)).not.toContain('sk-secret');
});

test('a machine without any coder says that no task would be taken; a login is found where the CLI keeps it', async () => {
  await using none = await machine({});
  expect((await said(none.at()))['coders']).toBe('wrong: none can be used: no task would be taken');
  await using m = await machine({ claude: '2.1.400' }, { 'user/.claude/.credentials.json': '{}' });
  expect((await said(m.at()))['coder claude']).toMatch(
    /^ok: 2\.1\.400; the conformance suite was passed by .*; by the login in .*\/user\/\.claude\/\.credentials\.json$/,
  );
});

test('a rule that leads to a coder that is not here is told', async () => {
  await using m = await machine({ claude: '2.1.329' });
  const checks = await said(m.at({ routes: [{ coder: 'claude' }, { name: 'big', coder: 'codex' }] }));
  expect(checks['routes']).toBe(
    'note: routes[1] (big) leads to coder codex, which is not here: another worker has to have it',
  );
});

test('a credential that cannot be used says why, and its coder that it is the way in', async () => {
  await using m = await machine({ claude: '2.1.329' });
  const checks = await said(m.at({ credentials: { work: { coder: 'claude', envFile: '/nowhere/env' } } }));
  expect(checks['credential work']).toMatch(/^wrong: credentials\.work\.envFile /);
  expect(checks['coder claude']).toContain('by credential work');
});

test('what a coder would load is listed with its size, what is loaded, and what it would load twice', async () => {
  await using m = await machine(
    { claude: '2.1.329' },
    {
      'user/.claude/CLAUDE.md': 'x'.repeat(400),
      'user/.claude/skills/deploy/SKILL.md': '---\nname: deploy\ndescription: Ships it.\n---\nA long text.\n',
      'user/.claude.json': JSON.stringify({ mcpServers: { wiki: {}, mail: {} } }),
      'repo/CLAUDE.md': `${'x'.repeat(400)}\n`,
    },
  );
  const report = await examineContext({ ...m.at({ context: { inherit: 'user' } }), repo: m.repo });
  expect(report.items).toEqual(
    [
      ...[['instructions', 'user', '~/.claude/CLAUDE.md', 100, false] as const],
      ...[['skill', 'user', '~/.claude/skills/deploy/SKILL.md', 9, true] as const],
      ...[['mcp', 'user', '~/.claude.json: wiki', null, false] as const],
      ...[['mcp', 'user', '~/.claude.json: mail', null, false] as const],
      ...[['instructions', 'project', 'CLAUDE.md', 101, true] as const],
    ].map(([kind, from, path, tokens, loaded]) => ({ coder: 'claude', kind, from, path, tokens, loaded })),
  );
  expect(report.twice).toEqual([
    {
      ...{ coder: 'claude', kind: 'instructions', paths: ['~/.claude/CLAUDE.md', 'CLAUDE.md'] },
      ...{ tokens: 101, loaded: false },
    },
  ]);
  const less = await examineContext({ ...m.at(), repo: m.repo });
  expect(less.items.filter(({ loaded }) => loaded).map(({ path }) => path)).toEqual(['CLAUDE.md']);
  expect(less.twice[0]).toMatchObject({ loaded: false });
});

test('one plugin of two marketplaces and servers with the same command are named, and each coder has its own sum', async () => {
  const server = (command: string, ...args: string[]) => ({ command, args });
  await using m = await machine(
    { claude: '2.1.400', codex: 'codex-cli 0.169.0' },
    {
      'user/.claude/CLAUDE.md': 'x'.repeat(400),
      'user/.codex/AGENTS.md': 'y'.repeat(80),
      'user/.claude/plugins/installed_plugins.json': JSON.stringify({
        version: 2,
        plugins: { 'deploy@one': [], 'deploy@two': [], 'other@one': [] },
      }),
      'user/.claude.json': JSON.stringify({
        mcpServers: { wiki: server('npx', 'wiki'), notes: server('npx', 'wiki'), mail: server('npx', 'mail') },
      }),
      'user/.codex/config.toml':
        '[mcp_servers.a]\ncommand = "npx"\nargs = ["wiki"]\n\n[mcp_servers.b]\ncommand = "npx"\nargs = ["wiki"]\n[mcp_servers.c]\ncommand = "npx"\n',
    },
  );
  const report = await examineContext({ ...m.at({ context: { inherit: 'user' } }), repo: m.repo });
  const list = '~/.claude/plugins/installed_plugins.json';
  expect(report.twice).toEqual([
    {
      coder: 'claude',
      kind: 'plugin',
      paths: [`${list}: deploy@one`, `${list}: deploy@two`],
      tokens: null,
      loaded: false,
    },
    {
      ...{ coder: 'claude', kind: 'mcp', paths: ['~/.claude.json: wiki', '~/.claude.json: notes'] },
      ...{ tokens: null, loaded: false },
    },
    {
      ...{ coder: 'codex', kind: 'mcp', paths: ['~/.codex/config.toml: a', '~/.codex/config.toml: b'] },
      ...{ tokens: null, loaded: false },
    },
  ]);
  expect(report.sums).toEqual([
    { coder: 'claude', loaded: 100, all: 100 },
    { coder: 'codex', loaded: 20, all: 20 },
  ]);
});

test('what the repository has word for word is not linked in from the user once more', async () => {
  await using m = await machine({}, { 'user/A.md': 'Same.\n', 'user/B.md': 'Own.', 'repo/AGENTS.md': 'Same.' });
  const user = m.at().env.HOME;
  const files = { '/run/a': { link: `${user}/A.md` }, '/run/b': { link: `${user}/B.md` }, '/run/c': { text: 'Same.' } };
  const repository = { userHome: user, tree: m.repo, instructions: ['AGENTS.md', 'CLAUDE.md'] };
  expect(Object.keys(await withoutRepeats(files, repository))).toEqual(['/run/b', '/run/c']);
});
