import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { driven, driveProtocol } from '../../src/coders/shared/drive.ts';
import { createCoders } from '../../src/coders/registry.ts';
import type { CoderFailure } from '../../src/domain/agent/event.ts';
import type { Json } from '../../src/domain/values/json.ts';
import { loginMethod } from '../../src/drivers/acp-setup.ts';
import { runCoder, workspace, type Workspace } from '../agents/run-coder.ts';
import { only } from '../coders/recorded.ts';
import { until } from '../helpers/until.ts';

const AGENT = join(import.meta.dirname, '../fixtures/agents/acp.mjs');
const SESSION = '0b7e6f3a-1c52-4b8e-9d3a-2f4c5d6e7f80';

interface More {
  model?: string;
  resume?: string;
  auth?: string;
  mode?: string;
  modes?: string;
  env?: Record<string, string>;
}

async function play(behaviour: string, at: Workspace, more: More = {}) {
  const { model, resume, auth, mode, modes = '', env = { MY_API_KEY: 'sk-very-secret-1' } } = more;
  const command = [process.execPath, AGENT, behaviour, ...(modes ? [modes] : [])];
  const declared = { command, protocol: 'acp' as const, env: ['MY_API_KEY'], model, auth, mode };
  const coder = createCoders({ mine: declared }).get('mine')!;
  return runCoder(coder, at, { env, ...(resume ? { resume: { id: resume, file: '' } } : {}) });
}

test('a task is done: text, calls with their results, usage, cost and the last word; what it asks is allowed', async () => {
  using at = workspace();
  const { events, exitCode } = await play('works', at);
  expect(exitCode).toBe(0);
  expect(events).toEqual([
    { type: 'started', session: SESSION },
    { type: 'text', text: 'I will write it.' },
    { type: 'tool-call', id: 'call-1', name: 'execute', input: expect.stringContaining('> hello.txt && git add') },
    { type: 'tool-result', id: 'call-1', ok: true, output: expect.stringContaining('Add hello.txt') },
    { type: 'usage', input: 0, output: 0, cached: 0, context: 1_500, window: 200_000 },
    { type: 'text', text: 'All done: hello.txt is committed.' },
    { type: 'usage', input: 1_300, output: 200, cached: 300, costUsd: 0.25 },
    { type: 'ended', ok: true, text: 'All done: hello.txt is committed.' },
  ]);
  expect(at.git('log', '--format=%s')).toBe('Add hello.txt\nbase\n');
  expect(readFileSync(join(at.tree, 'prompt.txt'), 'utf8')).toBe('Please add hello.txt.');
});

test('a session is loaded, and what it repeats of its past is not this run’s', async () => {
  using at = workspace();
  await play('works', at);
  const { events } = await play('leaks', at, { resume: SESSION });
  expect(events[0]).toEqual({ type: 'started', session: SESSION });
  expect(JSON.stringify(events)).not.toContain('said by an earlier run');
  expect(events.at(-1)).toMatchObject({ type: 'ended', ok: true });
});

test.each([
  ['forgets', 'this agent cannot go on with a session'],
  ['works', 'the session 11111111-1111-4111-8111-111111111111 could not be loaded: Resource not found'],
])(
  '%s: a session that is not there ends the run, as its prompt would mean nothing in a new one',
  async (behaviour, text) => {
    using at = workspace();
    const { events } = await play(behaviour, at, { resume: '11111111-1111-4111-8111-111111111111' });
    expect(events).toEqual([{ type: 'ended', ok: false, failure: 'agent-error', text }]);
  },
);

test('it logs in by the key that it has, or as it is told; without either it says what there is', async () => {
  using at = workspace();
  const { events } = await play('logs-in', at);
  expect(events.at(-1)).toMatchObject({ type: 'ended', ok: true });
  expect(readFileSync(join(at.tree, 'login.txt'), 'utf8')).toBe('api-key');
  await play('logs-in', at, { auth: 'chat-gpt' });
  expect(readFileSync(join(at.tree, 'login.txt'), 'utf8')).toBe('chat-gpt');
  const wrong = await play('logs-in', at, { auth: 'none-such' });
  expect(wrong.events).toEqual([
    {
      ...{ type: 'ended', ok: false, failure: 'auth' },
      text: 'the login none-such was refused: no method none-such',
    },
  ]);
  const keyless = await play('logs-in', at, { env: {} });
  expect(keyless.events).toEqual([
    {
      ...{ type: 'ended', ok: false, failure: 'auth' },
      text: expect.stringMatching(/^Authentication required; it offers chat-gpt, api-key: name one as auth/),
    },
  ]);
});

test.each<[methods: object[], env: Record<string, string>, method: string | undefined]>([
  [[{ id: 'openai-api-key' }], { CONTEXT7_API_KEY: 'k' }, undefined],
  [[{ id: 'openai-api-key' }], { OPENAI_API_KEY: 'k', CONTEXT7_API_KEY: 'k' }, 'openai-api-key'],
  [[{ id: 'openai-apikey' }], { OPENAI_API_KEY: 'k' }, 'openai-apikey'],
  [[{ id: 'gemini-api-key', _meta: { 'api-key': {} } }], { CONTEXT7_API_KEY: 'k' }, undefined],
  [[{ id: 'openai-api-key' }, { id: 'api-key' }], { CONTEXT7_API_KEY: 'k' }, 'api-key'],
  [[{ id: 'vendor-api-key', vars: [{ name: 'THEIR_KEY' }] }], { THEIR_KEY: 'k' }, 'vendor-api-key'],
])('of the logins %j, with the variables %j: %s', (methods, env, method) => {
  expect(loginMethod(methods as Json[], undefined, env)).toBe(method);
});

test('a login that was only guessed and is refused does not end the run', async () => {
  using at = workspace();
  const { events } = await play('has-login', at);
  expect(only(events, 'text')[0]).toMatchObject({ text: expect.stringContaining('the login api-key was refused') });
  expect(events.at(-1)).toMatchObject({ type: 'ended', ok: true });
  const told = await play('has-login', at, { auth: 'api-key' });
  expect(told.events.at(-1)).toMatchObject({ type: 'ended', ok: false, failure: 'auth' });
});

test.each<[behaviour: string, more: More, mode: string]>([
  ['careful', {}, 'bypassPermissions'],
  ['careful', { modes: 'plan,agent-full-access' }, 'agent-full-access'],
  ['careful', { modes: 'plan' }, 'default'],
  ['careful', { mode: 'plan', modes: 'plan,yolo' }, 'plan'],
  ['picky', {}, 'bypassPermissions'],
])('%s with %j works in the mode %s', async (behaviour, more, mode) => {
  using at = workspace();
  const { events } = await play(behaviour, at, more);
  expect(events.at(-1)).toEqual({ type: 'ended', ok: true, text: `mode: ${mode}` });
});

test('a mode that was asked for and is not there ends the run', async () => {
  using at = workspace();
  const { events } = await play('careful', at, { mode: 'none-such' });
  expect(events.at(-1)).toMatchObject({ ok: false, text: 'the mode none-such was refused: no such mode' });
});

test('the model is chosen as the session offers it; one that it does not know ends the run', async () => {
  using at = workspace();
  const { events } = await play('works', at, { model: 'large' });
  expect(readFileSync(join(at.tree, 'model.txt'), 'utf8')).toBe('large');
  expect(events[0]).toMatchObject({ type: 'started', model: 'large' });
  const refused = await play('works', at, { model: 'unknown' });
  expect(refused.events.at(-1)).toMatchObject({ ok: false, text: 'the model unknown was refused: no such model' });
});

test.each<[string, CoderFailure, string]>([
  ['limited', 'rate-limited', 'Internal error'],
  ['auth', 'auth', 'Authentication required'],
  ['overflow', 'context-overflow', 'prompt is too long'],
  ['turns', 'over-budget', 'max_turn_requests'],
  ['dies', 'agent-error', 'ended with exit code 3 in the middle of the conversation. fatal: ECONNREFUSED'],
])('%s ends as %s', async (behaviour, failure, text) => {
  using at = workspace();
  const { events, exitCode } = await play(behaviour, at);
  expect(events.at(-1)).toEqual({ type: 'ended', ok: false, failure, text: expect.stringContaining(text) });
  expect(only(events, 'rate-limited')).toHaveLength(failure === 'rate-limited' ? 1 : 0);
  expect(exitCode).toBe(1);
});

test.each([
  ['question', 'an answer to: Which database?'],
  ['forms', 'an answer to: Who are you?'],
])('%s: what only a person can answer is reported, and cancelled', async (behaviour, what) => {
  using at = workspace();
  const { events } = await play(behaviour, at);
  expect(only(events, 'waiting')).toEqual([{ type: 'waiting', what }]);
  expect(events.at(-1)).toEqual({ type: 'ended', ok: true, text: expect.stringMatching(/^answer: cancel/) });
});

test('a secret is printed nowhere, and what is no message goes to stderr', async () => {
  using at = workspace();
  const { events, lines, stderr } = await play('leaks', at);
  expect(events.at(-1)).toMatchObject({ text: 'The key is [MY_API_KEY]****.' });
  expect(lines.join() + stderr).not.toContain('sk-very-secret');
  expect(stderr).toContain('a banner that is no message');
});

test('an agent that does not end when its stdin is closed is killed, with what it started', async () => {
  using at = workspace();
  const { events } = await play('stays', at);
  expect(events.at(-1)).toMatchObject({ type: 'ended', ok: true });
  const group = readFileSync(join(at.tree, 'pid'), 'utf8');
  await until(() => !existsSync(`/proc/${group}`));
  expect(() => process.kill(-Number(group), 0)).toThrow('ESRCH');
});

test('a program that cannot be started is said so', async () => {
  using at = workspace();
  const coder = createCoders({ mine: { command: ['/none/such'], protocol: 'acp' } }).get('mine')!;
  const { events } = await runCoder(coder, at, { env: {} });
  expect(events).toEqual([
    { type: 'ended', ok: false, failure: 'agent-error', text: expect.stringContaining('ENOENT') },
  ]);
});

test.each<[string, NodeJS.Signals, number]>([
  ['waits', 'SIGTERM', 143],
  ['deaf', 'SIGINT', 130],
  ['mute', 'SIGTERM', 143],
])(
  '%s: %s becomes a cancel, and what does not heed it is killed within the keeper’s 3 s',
  async (behaviour, signal, code) => {
    using at = workspace();
    const command = [process.execPath, AGENT, behaviour];
    const [program = '', ...args] = driven({ protocol: 'acp', command, cwd: at.tree });
    const driver = spawn(program, args, { env: { ...process.env, HOME: at.home }, cwd: at.tree });
    let printed = '';
    driver.stdout.on('data', (piece: Buffer) => (printed += piece.toString()));
    driver.stdin.end('Go.');
    const childOf = () => readFileSync(`/proc/${driver.pid}/task/${driver.pid}/children`, 'utf8').trim();
    await until(() =>
      behaviour === 'mute'
        ? existsSync(join(at.tree, 'asked'))
        : printed.includes('started') && existsSync(join(at.tree, 'prompt.txt')),
    );
    const child = childOf();
    const began = performance.now();
    driver.kill(signal);
    expect(await new Promise((resolve) => driver.on('close', resolve))).toBe(code);
    expect(performance.now() - began).toBeLessThan(60_000);
    const events = printed.split('\n').flatMap(driveProtocol.parser());
    expect(events.at(-1)).toMatchObject({ type: 'ended', ok: false, text: expect.stringMatching(/by SIG|cancelled/) });
    await until(() => !existsSync(`/proc/${child}`));
  },
);
