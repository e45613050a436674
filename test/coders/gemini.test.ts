import { describe, expect, test } from '@jest/globals';
import { failureOf, geminiProtocol } from '../../src/coders/streams/gemini.ts';
import { createCoders } from '../../src/coders/registry.ts';
import type { CoderFailure } from '../../src/domain/agent/event.ts';

const read = (...lines: object[]) => {
  const parse = geminiProtocol.parser();
  return lines.flatMap((line) => parse(JSON.stringify(line)));
};
const piece = (content: string) => ({ type: 'message', role: 'assistant', content, delta: true });

test('the last word is put together from its pieces', () => {
  const call = { type: 'tool_use', tool_name: 'run_shell_command', tool_id: 'a', parameters: { command: 'make' } };
  const events = read(piece('Before.'), call, { type: 'tool_result', tool_id: 'a', status: 'success' }, piece('All '));
  expect(events[1]).toEqual({ type: 'tool-call', id: 'a', name: 'run_shell_command', input: 'make' });
  expect(read(call, piece('All '), piece('done.'), { type: 'result', status: 'success' }).at(-1)).toEqual({
    type: 'ended',
    ok: true,
    text: 'All done.',
  });
});

test('a run that the CLI stopped did not end well, whatever its result says', () => {
  const loop = { type: 'error', severity: 'warning', message: 'Loop detected, stopping execution' };
  expect(read(loop, { type: 'result', status: 'success' }).at(-1)).toMatchObject({
    type: 'ended',
    ok: false,
    failure: 'agent-error',
    text: 'Gemini CLI: Loop detected, stopping execution',
  });
});

test('a limit by the minute says when to come back', () => {
  const message = '[API Error: Resource has been exhausted (e.g. check quota).\nSuggested retry after 40s.]';
  const timestamp = '2026-11-21T20:08:45.000Z';
  const [limited, ended] = read({ type: 'result', timestamp, status: 'error', error: { message } });
  expect(ended).toMatchObject({ failure: 'rate-limited' });
  expect(limited).toEqual({ type: 'rate-limited', until: '2026-11-21T20:09:25.000Z' });
});

test.each<[string, CoderFailure]>([
  ['[API Error: You have exhausted your daily quota on this model.]', 'rate-limited'],
  ['[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]', 'auth'],
  ['[API Error: {"error":{"code":401,"status":"UNAUTHENTICATED"}}]', 'auth'],
  ['[API Error: The input token count (9) exceeds the maximum number of tokens allowed (8).]', 'context-overflow'],
  ['[API Error: {"error":{"code":500,"status":"INTERNAL"}}]', 'overloaded'],
  ['[API Error: terminated]', 'overloaded'],
  ['something else', 'agent-error'],
])('%s → %s', (message, failure) => expect(failureOf(message)).toBe(failure));

describe('start', () => {
  const order = { runId: '1-abc', tree: '/run/tree', home: '/run/home', userHome: '/home/me', prompt: 'Do it' };
  const start = (extra: object) =>
    createCoders()
      .get('gemini')!
      .start({ ...order, inherit: 'project', ...extra });
  const settingsOf = (files: object) => JSON.stringify((files as never)['/run/home/.gemini/settings.json'] ?? '');

  test('behind a proxy it has the run’s address and key', () => {
    expect(start({ proxy: { url: 'http://127.0.0.1:1/r/x', key: 'k' } }).env).toMatchObject({
      GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1/r/x',
      GEMINI_API_KEY: 'k',
    });
    expect(start({}).env).not.toHaveProperty('GEMINI_API_KEY');
  });

  test('the same run has the same session; another HOME’s goes on under a name that comes last', () => {
    expect(start({}).argv).toEqual(start({}).argv);
    const { argv, files } = start({
      resume: { id: '01234567-89ab', file: '/r/s/session-2026-01-01T00-00-01234567.jsonl' },
    });
    expect(argv).toContain('--resume=01234567-89ab');
    expect(files).toHaveProperty(['/run/home/.gemini/tmp/tree/chats/session-9999-12-31T23-59-01234567.jsonl']);
  });

  test('what is inherited', () => {
    expect(settingsOf(start({ inherit: 'none' }).files)).not.toContain('GEMINI.md');
    expect(settingsOf(start({}).files)).toContain('GEMINI.md');
    expect(start({ inherit: 'user' }).argv).toContain('--extensions=none');
    expect(start({ inherit: 'user' }).files).toMatchObject({
      '/run/home/.gemini/GEMINI.md': { link: '/home/me/.gemini/GEMINI.md' },
    });
  });

  test('only a key’s calls can go through a proxy', () => {
    const { upstream } = createCoders().get('gemini')!;
    expect(upstream?.({ GEMINI_API_KEY: 'k' }, { worker: {}, own: {} })).toEqual({
      api: 'gemini',
      url: 'https://generativelanguage.googleapis.com',
      headers: { 'x-goog-api-key': 'k' },
    });
    expect(upstream?.({ GEMINI_API_KEY: 'k', GOOGLE_GENAI_USE_GCA: 'true' }, { worker: {}, own: {} })).toBeUndefined();
    expect(upstream?.({}, { worker: {}, own: {} })).toBeUndefined();
  });
});
