import { describe, expect, test } from '@jest/globals';
import { sessionOf } from '../../src/coders/claude.ts';
import { claudeProtocol } from '../../src/coders/streams/claude.ts';
import { addUsage, NO_USAGE, type CoderFailure } from '../../src/domain/agent/event.ts';
import { createCoders } from '../../src/coders/registry.ts';
import { only, recorded } from './recorded.ts';

const read = (...lines: unknown[]) => {
  const parse = claudeProtocol.parser();
  return lines.flatMap((line) => parse(typeof line === 'string' ? line : JSON.stringify(line)));
};

describe('a run', () => {
  const events = read(...(recorded('claude')['done'] ?? []));

  test('tells its session, model, tools and last word', () => {
    expect(events[0]).toMatchObject({ type: 'started', model: expect.stringContaining('claude') });
    expect(only(events, 'tool-call').map(({ name }) => name)).toEqual(['Read', 'Write', 'Bash']);
    expect(only(events, 'tool-call')[2]?.input).toMatch(/^git add -A/);
    expect(events.at(-1)).toEqual({ type: 'ended', ok: true, text: 'All done: hello.txt is committed.' });
  });

  test('counts each message once, and the output when it is known', () => {
    expect(only(events, 'usage').reduce(addUsage, NO_USAGE)).toMatchObject({
      inputTokens: 4_600,
      cachedTokens: 3_100,
      outputTokens: 140,
      contextTokens: 1_301,
      contextWindow: 1_000_000,
      costUsd: expect.closeTo(0.0132, 2),
    });
  });
});

test('a resumed session’s cost counts from its last result only', () => {
  const result = { type: 'result', subtype: 'success', is_error: false, total_cost_usd: 9, result: 'ok' };
  const since = { model_usage_since_last_result: { m: { inputTokens: 5, outputTokens: 2, costUSD: 0.5 } } };
  const events = read({ ...result, ...since }, { ...result, ...since });
  expect(only(events, 'usage').reduce(addUsage, NO_USAGE)).toMatchObject({
    inputTokens: 10,
    outputTokens: 4,
    costUsd: 1,
  });
});

test('what was written to the cache and thought is told apart, and counted once', () => {
  const usage = { input_tokens: 10, cache_creation_input_tokens: 30, cache_read_input_tokens: 5, output_tokens: 1 };
  const total = { inputTokens: 10, outputTokens: 9, cacheReadInputTokens: 5, cacheCreationInputTokens: 30 };
  const events = read(
    { type: 'assistant', message: { id: 'm', content: [], usage } },
    {
      ...{ type: 'result', subtype: 'success', result: 'ok' },
      model_usage_since_last_result: { m: { ...total, thinkingTokens: 4 } },
    },
  );
  expect(only(events, 'usage').reduce(addUsage, NO_USAGE)).toMatchObject({
    ...{ inputTokens: 45, cachedTokens: 5, writtenTokens: 30, outputTokens: 9, reasoningTokens: 4 },
  });
});

describe('permissions', () => {
  test('a refusal is told, and nobody is waited for', () => {
    const line = {
      type: 'system',
      subtype: 'permission_denied',
      tool_name: 'Write',
      message: 'you have not granted it yet.',
    };
    expect(read(line)).toEqual([{ type: 'refused', what: 'a permission for Write: you have not granted it yet.' }]);
  });

  test('an MCP server that nobody has logged in to is named, others are not', () => {
    const servers = [
      { name: 'wiki', status: 'needs-auth' },
      { name: 'files', status: 'connected' },
    ];
    expect(read({ type: 'system', subtype: 'init', session_id: 's', model: 'm', mcp_servers: servers })).toEqual([
      { type: 'started', session: 's', model: 'm' },
      { type: 'refused', what: 'a login for MCP server wiki' },
    ]);
  });

  test('a question to the host is waited for', () => {
    const request = { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'rm x' }, tool_use_id: 'toolu_1' };
    expect(read({ type: 'control_request', request_id: 'X', request })).toEqual([
      { type: 'waiting', what: 'a permission for Bash: {"command":"rm x"}' },
    ]);
    expect(read({ type: 'control_request', request: { subtype: 'initialize' } })).toEqual([]);
  });
});

test('a rate limit counts only when it is reached', () => {
  const info = (status: string, resetsAt?: number) => ({
    type: 'rate_limit_event',
    rate_limit_info: { status, resetsAt },
  });
  expect(read(info('allowed', 1_795_248_242), info('allowed_warning', 1_795_248_242))).toEqual([]);
  expect(read(info('rejected', 1_795_248_242))).toEqual([{ type: 'rate-limited', until: '2026-11-21T08:04:02.000Z' }]);
  expect(read(info('rejected'))).toEqual([{ type: 'rate-limited' }]);
  expect(read(info('rejected', 1e300))).toEqual([{ type: 'rate-limited' }]);
});

test('how full the fullest window of a login is', () => {
  const info = {
    ...{ status: 'allowed_warning', resetsAt: 1_795_248_242, rateLimitType: 'five_hour' },
    unifiedWindows: { five_hour: { utilization: 0.93 }, seven_day: { utilization: 0.4 } },
  };
  expect(read({ type: 'rate_limit_event', rate_limit_info: info })).toEqual([
    { type: 'quota', part: 0.93, until: '2026-11-21T08:04:02.000Z' },
  ]);
  const odd = { ...info, resetsAt: 1e300 };
  expect(read({ type: 'rate_limit_event', rate_limit_info: odd })).toEqual([{ type: 'quota', part: 0.93 }]);
});

test.each<[string, Record<string, unknown>, CoderFailure]>([
  ['turn limit', { subtype: 'error_max_turns', terminal_reason: 'max_turns' }, 'over-budget'],
  ['cost limit', { subtype: 'error_max_budget_usd', terminal_reason: 'budget_exhausted' }, 'over-budget'],
  [
    'interrupted',
    { subtype: 'error_during_execution', terminal_reason: 'aborted_tools', is_error: true },
    'agent-error',
  ],
  ['unknown session', { subtype: 'error_during_execution', errors: ['No conversation found'] }, 'agent-error'],
  ['forbidden', { subtype: 'success', is_error: true, api_error_status: 403 }, 'auth'],
  ['a kind to come', { subtype: 'new' }, 'agent-error'],
])('%s', (_name, result, failure) => {
  expect(read({ type: 'result', ...result }).at(-1)).toMatchObject({ type: 'ended', ok: false, failure });
});

test('a resumed session that is not there says so', () => {
  const [ended] = read({ type: 'result', subtype: 'error_during_execution', errors: ['No conversation found'] });
  expect(ended).toMatchObject({ text: 'No conversation found' });
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
    createCoders({ claude: declared })
      .get('claude')
      ?.start({ ...order, ...extra });

  test('the prompt goes by stdin, never by argv', () => {
    expect(start()?.stdin).toBe('Do it');
    expect(start()?.argv.join(' ')).not.toContain('Do it');
  });

  test('the session is the run’s: the same each time, another for another run', () => {
    expect(sessionOf('1-abc')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(sessionOf('1-abc')).toBe(sessionOf('1-abc'));
    expect(sessionOf('1-abc')).not.toBe(sessionOf('2-abc'));
    expect(start()?.argv).toContain(`--session-id=${sessionOf('1-abc')}`);
  });

  test('the task’s model wins over the configured one', () => {
    expect(start()?.argv.join(' ')).not.toContain('--model');
    expect(start({}, { model: 'sonnet' })?.argv).toContain('--model=sonnet');
    expect(start({ model: 'opus' }, { model: 'sonnet' })?.argv).toContain('--model=opus');
  });

  test('everything of its own lies in the run’s HOME; the login is a link', () => {
    expect(start()?.env).toMatchObject({ HOME: '/run/home', CLAUDE_CONFIG_DIR: '/run/home/.claude' });
    expect(start()?.files).toEqual({
      '/run/home/.claude/.credentials.json': { link: '/home/me/.claude/.credentials.json', login: true },
      '/run/home/.claude/CLAUDE.md': { link: '/run/tree/CLAUDE.md' },
    });
  });

  test('a repository’s settings stay out: they could name the host that the key goes to', () => {
    expect(start()?.argv).toEqual(expect.arrayContaining(['--setting-sources=user', '--strict-mcp-config']));
  });
});

test('goes on in a session of another HOME, whose file is put where this worktree’s sessions are', () => {
  const order = {
    runId: '2-b',
    tree: '/r/2_b/work/tree',
    home: '/h',
    userHome: '/u',
    prompt: 'x',
    inherit: 'project' as const,
  };
  const id = sessionOf('1-a');
  const { argv, files } = createCoders()
    .get('claude')!
    .start({ ...order, resume: { id, file: `/r/s/${id}.jsonl` } });
  expect(argv).toContain(`--resume=${id}`);
  expect(argv.join(' ')).not.toContain('--session-id');
  expect(files).toMatchObject({ [`/h/.claude/projects/-r-2-b-work-tree/${id}.jsonl`]: { copy: `/r/s/${id}.jsonl` } });
});
