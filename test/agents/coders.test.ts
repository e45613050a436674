import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createCoders } from '../../src/coders/registry.ts';
import type { Inherit } from '../../src/ports.ts';
import { tools } from '../../src/receipts/kinds/tools.ts';
import { startModelServer, type Turn } from '../helpers/model-server.ts';
import { evidenceOf } from '../receipts/evidence.ts';
import { record } from './conformance/play.ts';
import { only, runCoder, workspace, type Workspace } from './run-coder.ts';
import { FABRICATES, HELLO, scripted } from './scenario.ts';

/** What is claude's and codex's own, with the real binary and a scripted model; what all coders do is in `conformance/`. */

type Name = 'claude' | 'codex';

async function play(
  name: Name,
  turns: Turn[],
  { at, env = {}, inherit = 'project' }: { at: Workspace; env?: Record<string, string>; inherit?: Inherit },
) {
  await using server = await startModelServer(turns);
  const setup = scripted(server);
  const coder = createCoders(setup.coders).get(name);
  if (!coder) throw new Error(`no coder ${name}`);
  const run = await runCoder(coder, at, { env: { ...setup.env, ...env }, inherit });
  return { run, requests: server.requests };
}

describe.each<Name>(['claude', 'codex'])('%s', (name) => {
  test('a claim without a deed ends well, and its tools receipt says that it is made up', async () => {
    using at = workspace();
    const { run } = await play(name, FABRICATES, { at });
    expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: true });
    const [ended] = only(run.events, 'ended');
    const evidence = evidenceOf({ events: run.events, outcome: { claim: ended?.text ?? '' } });
    expect(await tools.collect(evidence)).toMatchObject({
      ok: false,
      reason: 'fabricated',
      summary: expect.stringContaining('86/86 tests'),
    });
  });

  test('the repository’s instructions reach the model, its settings and tools do not', async () => {
    const touch = { type: 'command', command: 'touch "$CLAUDE_PROJECT_DIR/hooked"' };
    using at = workspace({
      'CLAUDE.md': 'CANARY_INSTRUCTIONS\n',
      'AGENTS.md': 'CANARY_INSTRUCTIONS\n',
      '.claude/settings.json': JSON.stringify({
        env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' },
        permissions: { deny: ['Bash'] },
        hooks: { PreToolUse: [{ matcher: '*', hooks: [touch] }] },
      }),
      '.claude/skills/x/SKILL.md': '---\nname: x\ndescription: CANARY_SETTINGS\n---\nhi\n',
      '.agents/skills/x/SKILL.md': '---\nname: x\ndescription: CANARY_SETTINGS\n---\nhi\n',
      '.mcp.json': JSON.stringify({ mcpServers: { evil: { command: 'touch', args: ['hooked'] } } }),
      '.codex/config.toml': 'model_provider = "openai"\n[mcp_servers.evil]\ncommand = "touch"\nargs = ["hooked"]\n',
    });
    const { run, requests } = await play(name, HELLO, { at });
    expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: true });
    expect(requests[0]?.body).toContain('CANARY_INSTRUCTIONS');
    expect(requests.some(({ body }) => body.includes('CANARY_SETTINGS'))).toBe(false);
    expect(at.git('ls-files', '-co', '--', 'hooked')).toBe('');
  });
});

test.each<[Name, Inherit, string[]]>([
  ['claude', 'none', []],
  ['claude', 'user', ['PROJECT_TOLD', 'USER_TOLD', 'USER_SKILL']],
  ['codex', 'none', []],
  ['codex', 'user', ['PROJECT_TOLD', 'USER_TOLD', 'USER_SKILL']],
])('%s inherits %s', async (name, inherit, heard) => {
  using at = workspace({ 'CLAUDE.md': 'PROJECT_TOLD\n', 'AGENTS.md': 'PROJECT_TOLD\n' });
  const own = {
    '.claude/CLAUDE.md': 'USER_TOLD\n',
    '.codex/AGENTS.md': 'USER_TOLD\n',
    '.claude/skills/y/SKILL.md': '---\nname: y\ndescription: USER_SKILL\n---\nhi\n',
    '.codex/skills/y/SKILL.md': '---\nname: y\ndescription: USER_SKILL\n---\nhi\n',
  };
  for (const [path, text] of Object.entries(own)) {
    mkdirSync(join(at.userHome, dirname(path)), { recursive: true });
    writeFileSync(join(at.userHome, path), text);
  }
  const { run, requests } = await play(name, HELLO, { at, inherit });
  expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: true });
  const said = requests.map(({ body }) => body).join('');
  expect(['PROJECT_TOLD', 'USER_TOLD', 'USER_SKILL'].filter((word) => said.includes(word))).toEqual(heard);
});

test.each<Name>(['claude', 'codex'])('%s: a model that its vendor does not know is named so', async (name) => {
  using at = workspace();
  const { run } = await play(name, [{ fail: 'model', times: Infinity }], { at });
  // What codex prints is its driver's.
  if (name === 'claude') record({ fixtures: name }, 'model', run, at);
  expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: false, failure: 'model-unknown' });
});

test('codex: the key stays out of the environment of the agent’s commands', async () => {
  using at = workspace();
  const { run } = await play('codex', [{ tools: [{ sh: 'env' }] }, { text: 'Done.' }], { at });
  const [result] = only(run.events, 'tool-result');
  expect(result?.output).toContain('CODEX_HOME=');
  expect(result?.output).not.toContain('sk-scripted');
});

test('codex: a command that it refuses is a call that failed', async () => {
  using at = workspace();
  const { run } = await play('codex', [{ tools: [{ sh: 'rm -f note.txt' }] }, { text: 'Done.' }], { at });
  expect(only(run.events, 'tool-call')).toMatchObject([{ name: 'command_execution', input: 'rm -f note.txt' }]);
  expect(only(run.events, 'tool-result')).toMatchObject([{ ok: false, output: expect.stringContaining('rejected') }]);
  expect(at.git('status', '--short')).toBe('');
});

test('claude: a subscription’s limit names the time of its reset', async () => {
  using at = workspace();
  const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-scripted' };
  const { run } = await play('claude', [{ fail: 'quota', resetSeconds: 3_600, times: Infinity }], { at, env });
  record({ fixtures: 'claude' }, 'subscription-limit', run, at);
  const [limited] = only(run.events, 'rate-limited');
  expect(Date.parse(limited?.until ?? '')).toBeGreaterThan(Date.now() + 3_000_000);
  expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: false, failure: 'rate-limited' });
});
