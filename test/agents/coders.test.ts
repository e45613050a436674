import { describe, expect, test } from '@jest/globals';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCoders } from '../../src/coders/registry.ts';
import { addUsage, NO_USAGE, type CoderFailure } from '../../src/domain/event.ts';
import { tools } from '../../src/receipts/tools.ts';
import { evidenceOf } from '../receipts/evidence.ts';
import { startModelServer, type FailKind, type Turn } from '../helpers/model-server.ts';
import { only, runCoder, workspace, type CoderRun, type Workspace } from './run-coder.ts';
import { FABRICATES, HELLO, scripted } from './scenario.ts';

/** Each coder's start order and parser, with the real binary and a scripted model. */

type Name = 'claude' | 'codex';

async function play(name: Name, turns: Turn[], { at, env = {} }: { at: Workspace; env?: Record<string, string> }) {
  await using server = await startModelServer(turns);
  const setup = scripted(server);
  const coder = createCoders(setup.coders).get(name);
  if (!coder) throw new Error(`no coder ${name}`);
  const run = await runCoder(coder, at, { ...setup.env, ...env });
  return { run, requests: server.requests };
}

/** RECORD=1 writes what the binaries print to test/fixtures/coders, for the parsers' own tests. */
function record(name: Name, scenario: string, { lines }: CoderRun, { dir }: Workspace): void {
  if (!process.env['RECORD']) return;
  const folder = join(import.meta.dirname, '../fixtures/coders', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${scenario}.jsonl`), lines.map((line) => `${line.replaceAll(dir, '/run')}\n`).join(''));
}

describe.each<Name>(['claude', 'codex'])('%s', (name) => {
  test('does a task: its stream becomes events, its calls join their results, and the commit is there', async () => {
    using at = workspace();
    const { run, requests } = await play(name, HELLO, { at });
    record(name, 'done', run, at);

    expect({ exitCode: run.exitCode, stderr: run.exitCode ? run.stderr : '' }).toEqual({ exitCode: 0, stderr: '' });
    expect(run.events[0]).toMatchObject({ type: 'started', session: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const calls = only(run.events, 'tool-call');
    const results = only(run.events, 'tool-result');
    expect(calls).toHaveLength(3);
    expect(results.map(({ id, ok }) => ({ id, ok }))).toEqual(calls.map(({ id }) => ({ id, ok: true })));
    expect(results[2]?.output).toContain('Add hello.txt');
    expect(only(run.events, 'usage').reduce(addUsage, NO_USAGE)).toMatchObject({
      inputTokens: 4_600,
      cachedTokens: 3_100,
      outputTokens: 140,
    });
    expect(run.events.at(-1)).toEqual({ type: 'ended', ok: true, text: 'All done: hello.txt is committed.' });

    expect(readFileSync(join(at.tree, 'hello.txt'), 'utf8')).toBe('hello from the agent\n');
    expect(at.git('log', '--format=%s')).toBe('Add hello.txt\nbase\n');
    expect(requests.filter(({ turn }) => turn === null)).toEqual([]);
    expect(requests[0]?.body).toContain('Please add hello.txt.');
  });

  test.each<[FailKind, CoderFailure]>([
    ['auth', 'auth'],
    ['billing', 'auth'],
    ['rate', 'rate-limited'],
    ['quota', 'rate-limited'],
    ['overloaded', 'overloaded'],
    ['server', 'overloaded'],
    ['overflow', 'context-overflow'],
  ])('a model that answers %s ends it with %s', async (fail, failure) => {
    using at = workspace();
    const { run } = await play(name, [{ fail, resetSeconds: fail === 'quota' ? 3_600 : 1, times: Infinity }], { at });
    record(name, fail, run, at);
    expect(run.exitCode).toBe(1);
    expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: false, failure });
    expect(only(run.events, 'ended')).toHaveLength(1);
  });

  test('a model that nobody answers for is the model’s fault, not the agent’s', async () => {
    using at = workspace();
    await using server = await startModelServer();
    const setup = scripted(server);
    await server[Symbol.asyncDispose]();
    const coder = createCoders(setup.coders).get(name);
    const run = await runCoder(coder!, at, setup.env);
    record(name, 'offline', run, at);
    expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: false, failure: 'overloaded' });
  });

  test('a failure after work still counts the work', async () => {
    using at = workspace();
    const { run } = await play(name, [...HELLO.slice(0, 2), { fail: 'overflow', times: Infinity }], { at });
    record(name, 'late-overflow', run, at);
    expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: false, failure: 'context-overflow' });
    expect(only(run.events, 'tool-result')).toHaveLength(2);
  });

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

test('codex: the key stays out of the environment of the agent’s commands', async () => {
  using at = workspace();
  const { run } = await play('codex', [{ tools: [{ sh: 'env' }] }, { text: 'Done.' }], { at });
  const [result] = only(run.events, 'tool-result');
  expect(result?.output).toContain('CODEX_HOME=');
  expect(result?.output).not.toContain('sk-scripted');
});

test('claude: a subscription’s limit names the time of its reset', async () => {
  using at = workspace();
  const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-scripted' };
  const { run } = await play('claude', [{ fail: 'quota', resetSeconds: 3_600, times: Infinity }], { at, env });
  record('claude', 'subscription-limit', run, at);
  const [limited] = only(run.events, 'rate-limited');
  expect(Date.parse(limited?.until ?? '')).toBeGreaterThan(Date.now() + 3_000_000);
  expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: false, failure: 'rate-limited' });
});

test('codex: a plan’s limit names the time of its reset', async () => {
  using at = workspace();
  const { run } = await play('codex', [{ fail: 'quota', resetSeconds: 3_600, times: Infinity }], { at });
  const [limited] = only(run.events, 'rate-limited');
  expect(Date.parse(limited?.until ?? '')).toBeGreaterThan(Date.now() + 3_000_000);
});
