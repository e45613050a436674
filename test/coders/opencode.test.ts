import { describe, expect, test } from '@jest/globals';
import { opencodeProtocol } from '../../src/coders/streams/opencode.ts';
import { createCoders } from '../../src/coders/registry.ts';

const read = (...lines: object[]) => {
  const parse = opencodeProtocol.parser();
  return lines.flatMap((line) => parse(JSON.stringify({ sessionID: 'ses_1', timestamp: 1_795_293_355_000, ...line })));
};
const error = (name: string, data: object) => ({ type: 'error', error: { name, data } });

describe('the end', () => {
  test('is the step that wants no tool', () => {
    const step = (reason: string) => ({
      type: 'step_finish',
      part: { reason, tokens: { input: 200, output: 40, reasoning: 10, cache: { read: 900, write: 100 } }, cost: 0.5 },
    });
    const events = read(step('tool-calls'), { type: 'text', part: { text: 'Done.' } }, step('stop'));
    expect(events.map(({ type }) => type)).toEqual(['started', 'usage', 'text', 'usage', 'ended']);
    expect(events[1]).toMatchObject({
      input: 1_200,
      output: 50,
      cached: 900,
      written: 100,
      reasoning: 10,
      costUsd: 0.5,
    });
    expect(events.at(-1)).toEqual({ type: 'ended', ok: true, text: 'Done.' });
    expect(read(step('length')).at(-1)).toMatchObject({ ok: false, failure: 'agent-error' });
  });

  test.each([
    ['ContextOverflowError', {}, 'context-overflow'],
    ['ProviderAuthError', {}, 'auth'],
    ['APIError', { statusCode: 401 }, 'auth'],
    ['APIError', { statusCode: 429, responseBody: '{"code":"insufficient_quota"}' }, 'auth'],
    ['APIError', { statusCode: 503 }, 'overloaded'],
    ['UnknownError', { message: 'Unable to connect. Is the computer able to access the url?' }, 'overloaded'],
    ['UnknownError', { message: 'no idea' }, 'agent-error'],
  ])('%s %j → %s', (name, data, failure) => {
    expect(read(error(name, data)).at(-1)).toMatchObject({ type: 'ended', ok: false, failure });
  });

  test('a limit says when to come back', () => {
    const [, limited] = read(error('APIError', { statusCode: 429, responseHeaders: { 'retry-after': '60' } }));
    expect(limited).toEqual({ type: 'rate-limited', until: new Date(1_795_293_415_000).toISOString() });
  });
});

describe('start', () => {
  const opencode = createCoders().get('opencode')!;
  const order = { runId: '1-a', tree: '/t', home: '/h', userHome: '/u', prompt: 'Do it', inherit: 'project' as const };
  const config = (extra: object) =>
    JSON.parse(opencode.start({ ...order, ...extra }).env['OPENCODE_CONFIG_CONTENT'] ?? '') as Record<string, unknown>;

  test('a model without a provider is one of the address that the environment names', () => {
    expect(opencode.start({ ...order, model: 'qwen3' }).argv).toContain('--model=fleet/qwen3');
    expect(opencode.start({ ...order, model: 'anthropic/x' }).argv).toContain('--model=anthropic/x');
    expect(config({ model: 'qwen3' })).toMatchObject({ provider: { fleet: { models: { qwen3: {} } } } });
  });

  test('the repository’s instructions come in as ours, or not at all', () => {
    expect(config({})).toMatchObject({ instructions: ['/t/AGENTS.md'] });
    expect(config({ inherit: 'none' })).toMatchObject({ instructions: [] });
  });

  test('behind a proxy the vendor’s calls go there that the proxy speaks for', () => {
    const proxy = { url: 'http://127.0.0.1:1/r/x', key: 'k', api: 'openai-responses' as const };
    const through = { options: { baseURL: 'http://127.0.0.1:1/r/x/v1', apiKey: 'k' } };
    const anthropic = { ...proxy, api: 'anthropic' as const };
    expect(config({ proxy })).toMatchObject({ provider: { openai: through } });
    expect(config({ proxy: anthropic })).toMatchObject({ provider: { anthropic: through } });
    expect(opencode.start({ ...order, proxy }).env).toMatchObject({ OPENAI_API_KEY: 'k' });
    expect(opencode.start({ ...order, proxy: anthropic }).env).not.toHaveProperty('OPENAI_API_KEY');
    expect(opencode.start({ ...order, proxy }).files).not.toHaveProperty(['/h/.local/share/opencode/auth.json']);
  });

  describe('without a proxy', () => {
    const secret = 'sk-literal';
    const mine = {
      npm: '@ai-sdk/openai-compatible',
      options: {
        baseURL: 'https://gateway.test/v1',
        timeout: 600_000,
        apiKey: secret,
        headers: { Authorization: `Bearer ${secret}`, 'X-Team': '{env:TEAM}', 'X-Id': 'Bearer {env:ID}' },
      },
      models: { m: { limit: { context: 1_000 }, headers: { 'X-Plain': secret }, options: { accessToken: secret } } },
    };
    const user = { model: 'mine/m', provider: { mine, other: { options: { baseURL: 'https://other.test' } } } };
    const own = { '.config/opencode/opencode.json': JSON.stringify(user) };
    const kept = {
      npm: '@ai-sdk/openai-compatible',
      options: {
        baseURL: 'https://gateway.test/v1',
        timeout: 600_000,
        headers: { 'X-Team': '{env:TEAM}', 'X-Id': 'Bearer {env:ID}' },
      },
      models: { m: { limit: { context: 1_000 }, headers: {}, options: {} } },
    };

    test.each([['mine/m'], [undefined]])(
      'the provider of the model %s alone reaches the agent, without its secrets',
      (model) => {
        expect(config({ own, model })['provider']).toEqual({ fleet: expect.anything(), mine: kept });
      },
    );

    test('none where the model is of another', () => {
      expect(Object.keys(config({ own, model: 'anthropic/x' })['provider'] as object)).toEqual(['fleet']);
      expect(Object.keys(config({ own, model: 'plain' })['provider'] as object)).toEqual(['fleet']);
    });
  });

  test.each<[env: Record<string, string>, model: string | undefined, way: object | undefined]>([
    [{ ANTHROPIC_API_KEY: 'k' }, undefined, { api: 'anthropic', url: 'https://api.anthropic.com' }],
    [{ OPENAI_API_KEY: 'k' }, undefined, { api: 'openai-responses', url: 'https://api.openai.com/v1' }],
    [
      { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://x.test/api/v3/' },
      'any',
      { api: 'openai-chat', url: 'https://x.test/api/v3', versioned: true, headers: { authorization: 'Bearer k' } },
    ],
    [
      { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://x.test/v1', ANTHROPIC_API_KEY: 'a' },
      'anthropic/x',
      { api: 'anthropic', url: 'https://api.anthropic.com', headers: { 'x-api-key': 'a' } },
    ],
    [{ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://x.test/v1' }, 'anthropic/x', undefined],
    [{ OPENAI_API_KEY: 'k' }, 'other/x', undefined],
    [{}, undefined, undefined],
  ])('%j with the model %s goes to %j', (env, model, way) => {
    const upstream = opencode.upstream?.(env, { model, worker: {}, own: {} });
    if (way) expect(upstream).toMatchObject(way);
    else expect(upstream).toBeUndefined();
  });
});
