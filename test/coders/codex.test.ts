import { describe, expect, test } from '@jest/globals';
import { codexProtocol, failureOf, resetIn } from '../../src/coders/streams/codex.ts';
import { createCoders } from '../../src/coders/registry.ts';
import { addUsage, NO_USAGE, type CoderFailure } from '../../src/domain/agent/event.ts';
import { only, recorded } from './recorded.ts';

const read = (...lines: unknown[]) => {
  const parse = codexProtocol.parser();
  return lines.flatMap((line) => parse(typeof line === 'string' ? line : JSON.stringify(line)));
};
const item = (type: string, fields: Record<string, unknown>) => ({
  type: 'item.completed',
  item: { id: 'item_1', type, ...fields },
});

test('a run tells its session, calls, usage and last word', () => {
  const events = read(...(recorded('codex')['done'] ?? []));
  expect(only(events, 'tool-call').map(({ name }) => name)).toEqual([
    'command_execution',
    'file_change',
    'command_execution',
  ]);
  expect(only(events, 'tool-result').every(({ ok }) => ok)).toBe(true);
  expect(only(events, 'usage').reduce(addUsage, NO_USAGE)).toMatchObject({
    inputTokens: 4_600,
    cachedTokens: 3_100,
    outputTokens: 140,
  });
  expect(events.at(-1)).toEqual({ type: 'ended', ok: true, text: 'All done: hello.txt is committed.' });
});

test('reasoning is a part of the output', () => {
  const usage = { input_tokens: 9, cached_input_tokens: 4, output_tokens: 7, reasoning_output_tokens: 3 };
  const events = read(JSON.stringify({ type: 'turn.completed', usage }));
  expect(only(events, 'usage').reduce(addUsage, NO_USAGE)).toMatchObject({ outputTokens: 7, reasoningTokens: 3 });
});

describe('items', () => {
  test('a command that fails is a result that is not ok', () => {
    const events = read(
      item('command_execution', { command: 'false', aggregated_output: 'no', exit_code: 1, status: 'failed' }),
    );
    expect(events).toEqual([
      { type: 'tool-call', id: 'item_1', name: 'command_execution', input: 'false' },
      { type: 'tool-result', id: 'item_1', ok: false, output: 'no' },
    ]);
  });

  test('a call of an MCP server is named by server and tool', () => {
    const [call] = read(
      item('mcp_tool_call', { server: 'docs', tool: 'find', arguments: { q: 'x' }, status: 'completed' }),
    );
    expect(call).toEqual({ type: 'tool-call', id: 'item_1', name: 'docs.find', input: '{"q":"x"}' });
  });

  test('an item of type error is a warning', () => {
    expect(read(item('error', { message: 'Model metadata not found' }))).toEqual([
      { type: 'text', text: 'Warning: Model metadata not found' },
    ]);
  });

  test('thoughts and plans are not the agent’s deeds', () => {
    expect(read(item('reasoning', { text: 'hm' }), item('todo_list', { items: [] }))).toEqual([]);
  });
});

test('a reconnect is not an end', () => {
  expect(
    read({ type: 'error', message: 'Reconnecting... 2/5 (exceeded retry limit, last status: 429 Too Many Requests)' }),
  ).toEqual([]);
});

test.each<[string, CoderFailure]>([
  ['exceeded retry limit, last status: 429 Too Many Requests', 'rate-limited'],
  ['You’ve hit your usage limit. Upgrade to Pro or try again at 8:15 AM.', 'rate-limited'],
  ['unexpected status 401 Unauthorized: Incorrect API key provided', 'auth'],
  ['Quota exceeded. Check your plan and billing details.', 'auth'],
  ['Selected model is at capacity. Please try a different model.', 'overloaded'],
  ['We’re currently experiencing high demand, which may cause temporary errors.', 'overloaded'],
  ['unexpected status 502 Bad Gateway', 'overloaded'],
  ['stream disconnected before completion: failed to lookup address information', 'overloaded'],
  ['Codex ran out of room in the model’s context window.', 'context-overflow'],
  ['something else', 'agent-error'],
  ['', 'agent-error'],
])('%s → %s', (message, failure) => expect(failureOf(message)).toBe(failure));

describe('the reset time in a message', () => {
  const at = (hours: number, minutes: number, day = 21) => new Date(2026, 10, day, hours, minutes).toISOString();
  const now = new Date(2026, 10, 21, 9, 30);

  test.each([
    ['try again at 10:39 AM.', at(10, 39)],
    ['try again at 8:15 AM.', at(8, 15, 22)],
    ['try again at 12:05 PM.', at(12, 5)],
    ['try again at 12:05 AM.', at(0, 5, 22)],
    ['try again at Nov 28th, 2026 8:15 AM.', at(8, 15, 28)],
    ['try again later', undefined],
    ['try again at Foo 99th, 2026 8:15 AM.', undefined],
  ])('%s', (message, expected) => expect(resetIn(message, now)).toBe(expected));
});

describe('start', () => {
  const order = {
    runId: '1-abc',
    tree: '/run/tree',
    home: '/run/home',
    userHome: '/home/me',
    prompt: 'Do it',
    inherit: 'project' as const,
  };
  const start = (extra = {}, declared = {}) =>
    createCoders({ codex: declared })
      .get('codex')
      ?.start({ ...order, ...extra });

  const exec = { protocol: 'codex' as const };
  const asked = (extra = {}, declared = {}) => JSON.parse(start(extra, declared)?.argv[2] ?? '') as object;

  test('it is talked to by a driver, with the prompt on its stdin', () => {
    expect(start()?.stdin).toBe('Do it');
    expect(start()?.argv.slice(0, 2)).toEqual([process.execPath, expect.stringMatching(/dist\/drivers\/main\.js$/)]);
    expect(asked({}, { args: ['-c', 'a=1'] })).toEqual({
      protocol: 'codex',
      command: expect.arrayContaining(['codex', 'app-server', '-c', 'a=1']),
      cwd: '/run/tree',
    });
  });

  test('by `codex exec`, `-` at the end asks for the prompt', () => {
    expect(start({}, { ...exec, args: ['--search'] })?.argv.slice(-2)).toEqual(['--search', '-']);
    expect(start({}, exec)?.argv).toContain('--cd=/run/tree');
  });

  test('the task’s model wins over the configured one', () => {
    expect(start({}, { ...exec, model: 'a' })?.argv).toContain('--model=a');
    expect(start({ model: 'b' }, { ...exec, model: 'a' })?.argv).toContain('--model=b');
    expect(asked({}, { model: 'a' })).toMatchObject({ model: 'a' });
    expect(asked({ model: 'b' }, { model: 'a' })).toMatchObject({ model: 'b' });
  });

  test('its configuration is the run’s own; the login is a link', () => {
    expect(start()?.env).toEqual({ HOME: '/run/home', CODEX_HOME: '/run/home/.codex' });
    expect(start()?.files).toMatchObject({ '/run/home/.codex/auth.json': { link: '/home/me/.codex/auth.json' } });
    expect(start()?.files['/run/home/.codex/config.toml']).toMatchObject({
      text: expect.stringContaining('CODEX_API_KEY'),
    });
  });
});

test('goes on in a session of another HOME, whose file may lie under any date', () => {
  const order = { runId: '2-b', tree: '/r/tree', home: '/h', userHome: '/u', prompt: 'x', inherit: 'project' as const };
  const resume = { id: 'an-id', file: '/r/s/rollout-x-an-id.jsonl' };
  const coder = (declared = {}) => createCoders({ codex: declared }).get('codex')!;
  const { argv, files } = coder().start({ ...order, resume });
  expect(JSON.parse(argv[2]!)).toMatchObject({ resume: 'an-id', cwd: '/r/tree' });
  expect(
    coder({ protocol: 'codex' })
      .start({ ...order, resume })
      .argv.slice(-3),
  ).toEqual(['resume', 'an-id', '-']);
  expect(files).toMatchObject({ '/h/.codex/sessions/2000/01/01/rollout-x-an-id.jsonl': { copy: resume.file } });
});
