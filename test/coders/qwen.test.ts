import { describe, expect, test } from '@jest/globals';
import { failureOf, qwenProtocol } from '../../src/coders/streams/qwen.ts';
import { createCoders } from '../../src/coders/registry.ts';
import { addUsage, NO_USAGE, type CoderFailure } from '../../src/domain/agent/event.ts';
import { only, recorded } from './recorded.ts';

const read = (...lines: object[]) => {
  const parse = qwenProtocol.parser();
  return lines.flatMap((line) => parse(JSON.stringify(line)));
};

test('what a failed run used is kept, as its result says nothing of it', () => {
  const usage = { input_tokens: 100, output_tokens: 5, cache_read_input_tokens: 60 };
  const events = read(
    { type: 'assistant', message: { content: [{ type: 'text', text: 'Hm.' }], usage } },
    {
      type: 'result',
      subtype: 'error_during_execution',
      is_error: true,
      usage: { input_tokens: 0 },
      error: { message: 'x' },
    },
  );
  expect(only(events, 'usage').reduce(addUsage, NO_USAGE)).toMatchObject({ inputTokens: 100, cachedTokens: 60 });
});

test('a run tells its calls by the wire’s ids', () => {
  const parse = qwenProtocol.parser();
  const calls = only(
    (recorded('qwen')['done'] ?? []).flatMap((line) => parse(line)),
    'tool-call',
  );
  expect(calls.map(({ name }) => name)).toEqual(['read_file', 'write_file', 'run_shell_command']);
  expect(calls.every(({ id }) => id.startsWith('call_'))).toBe(true);
});

test.each<[string, CoderFailure]>([
  ['[API Error: 401 Incorrect API key provided: sk-fake.]', 'auth'],
  ['[API Error: 429 You exceeded your current quota, please check your plan and billing details.]', 'auth'],
  ['[API Error: 429 Rate limit reached on tokens per min (TPM): Limit 30000.]', 'rate-limited'],
  ["[API Error: 400 This model's maximum context length is 128000 tokens.]", 'context-overflow'],
  ['[API Error: 503 Our servers are currently overloaded.]', 'overloaded'],
  ['[API Error: Connection error.]', 'overloaded'],
  ['error_max_turns', 'over-budget'],
  ['something else', 'agent-error'],
])('%s → %s', (message, failure) => expect(failureOf(message)).toBe(failure));

describe('start', () => {
  const order = {
    runId: '1-a',
    tree: '/r/tree',
    home: '/h',
    userHome: '/u',
    prompt: 'Do it',
    inherit: 'project' as const,
  };
  const start = (extra = {}) =>
    createCoders()
      .get('qwen')!
      .start({ ...order, ...extra });
  const settings = (extra = {}) => JSON.stringify(start(extra).files['/h/.fleet/qwen-settings.json']);

  test('its session has a UUID of the fourth version, the same for the same run', () => {
    const [, id] = /--session-id=(\S+)/.exec(start().argv.join(' ')) ?? [];
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(start().argv).toContain(`--session-id=${id}`);
  });

  test('a session of another folder is said to have moved here', () => {
    const { argv, files } = start({ resume: { id: 'an-id', file: '/s/an-id.jsonl' } });
    expect(argv).toContain('--resume=an-id');
    expect(files).toMatchObject({
      '/h/.qwen/projects/-r-tree/chats/an-id.jsonl': { copy: '/s/an-id.jsonl' },
      '/h/.qwen/projects/-r-tree/chats/an-id.runtime.json': { text: expect.stringContaining('"work_dir":"/r/tree"') },
    });
  });

  test('what is inherited', () => {
    expect(settings({ inherit: 'none' })).not.toContain('QWEN.md');
    expect(settings()).toContain('QWEN.md');
    expect(start({ inherit: 'user' }).argv).toContain('--extensions=none');
    expect(start({ inherit: 'user' }).files).toMatchObject({ '/h/.qwen/QWEN.md': { link: '/u/.qwen/QWEN.md' } });
  });

  test('behind a proxy it has the run’s address and key', () => {
    expect(start({ proxy: { url: 'http://127.0.0.1:1/r/x', key: 'k' } }).env).toMatchObject({
      OPENAI_BASE_URL: 'http://127.0.0.1:1/r/x/v1',
      OPENAI_API_KEY: 'k',
    });
  });
});
