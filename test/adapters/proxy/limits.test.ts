import { describe, expect, test } from '@jest/globals';
import { failureOf, quotaOf, resetOf, usedOf } from '../../../src/adapters/proxy/limits.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const epoch = (seconds: number) => String(NOW / 1_000 + seconds);
const error = (rest: object) => ({ error: rest });
const after = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString();

describe('the reset of a limit', () => {
  test.each<[string, Record<string, string>, object | undefined, number | undefined]>([
    ['nothing', {}, undefined, undefined],
    ['retry-after in seconds', { 'retry-after': '30' }, undefined, 30],
    ['retry-after as a date', { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, undefined, 60],
    ['retry-after-ms', { 'retry-after-ms': '1500' }, undefined, 1.5],
    [
      'a window of a subscription',
      {
        'retry-after': '5',
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': epoch(3_600),
      },
      undefined,
      3_600,
    ],
    [
      'the bucket that is empty',
      {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': after(20),
        'anthropic-ratelimit-input-tokens-remaining': '500',
        'anthropic-ratelimit-input-tokens-reset': after(50),
      },
      undefined,
      20,
    ],
    [
      'durations of OpenAI',
      {
        'x-ratelimit-remaining-requests': '3',
        'x-ratelimit-reset-requests': '1h',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0.5s',
      },
      undefined,
      360.5,
    ],
    [
      'a plan of Codex',
      { 'x-codex-primary-used-percent': '100', 'x-codex-primary-reset-at': epoch(900) },
      undefined,
      900,
    ],
    [
      'the plan window that is used up, not the other one',
      {
        'x-codex-primary-used-percent': '40',
        'x-codex-primary-reset-at': epoch(9_000),
        'x-codex-secondary-used-percent': '100',
        'x-codex-secondary-reset-after-seconds': '70',
      },
      undefined,
      70,
    ],
    ['a time in the body', {}, error({ resets_at: NOW / 1_000 + 44 }), 44],
    [
      'RetryInfo',
      {},
      error({ details: [{ '@type': 'x' }, { '@type': 'type/RetryInfo', retryDelay: '34.07s' }] }),
      34.07,
    ],
    ['words', {}, error({ message: 'Rate limit reached. Please try again in 1m2s. Visit' }), 62],
    ['the past is no reset', { 'anthropic-ratelimit-unified-reset': epoch(-9), 'retry-after': '4' }, undefined, 4],
    ['nor is a far future', { 'retry-after': '99999999' }, undefined, undefined],
    [
      'nor is nonsense',
      { 'retry-after': 'soon', 'x-ratelimit-remaining-tokens': '0' },
      error({ details: 'x' }),
      undefined,
    ],
  ])('%s', (_, headers, body, seconds) => {
    expect(resetOf(headers, body as never, NOW)).toBe(seconds === undefined ? undefined : after(seconds));
  });
});

test.each([
  [401, 'authentication_error', 'invalid x-api-key', 'auth'],
  [403, '', 'Forbidden', 'auth'],
  [400, 'INVALID_ARGUMENT', 'API key not valid. API_KEY_INVALID', 'auth'],
  [400, 'invalid_request_error', 'Your credit balance is too low', 'auth'],
  [429, 'insufficient_quota', 'You exceeded your current quota', 'auth'],
  [429, 'rate_limit_error', 'slow down', 'rate-limited'],
  [429, 'RESOURCE_EXHAUSTED', 'Quota exceeded', 'rate-limited'],
  [200, 'rate_limit_exceeded', 'mid-stream', 'rate-limited'],
  [529, 'overloaded_error', 'Overloaded', 'overloaded'],
  [503, '', '', 'overloaded'],
  [200, 'server_error', 'mid-stream', 'overloaded'],
  [400, 'invalid_request_error', 'prompt is too long: 214321 tokens > 200000 maximum', 'context-overflow'],
  [400, 'context_length_exceeded', 'x', 'context-overflow'],
  [400, 'INVALID_ARGUMENT', 'The input token count (1) exceeds the maximum number of tokens', 'context-overflow'],
  [400, 'invalid_request_error', 'messages: field required', undefined],
  [404, 'not_found_error', 'model: x', 'model-unknown'],
  // What the agent sent is quoted in what comes back.
  [400, 'invalid_request_error', "messages.0.role: 'authentication' is not one of 'user', 'assistant'", undefined],
  [400, 'invalid_request_error', "Invalid schema for function 'get_billing_report'", undefined],
  [400, 'invalid_request_error', 'unknown field: credit balance', undefined],
])('%i %s %s', (status, code, message, failure) => expect(failureOf(status, { code, message })).toBe(failure));

test('headers of quotas are kept, others are not', () => {
  expect(quotaOf({ 'x-ratelimit-remaining-tokens': '5', 'content-type': 'x', date: 'y' })).toEqual({
    'x-ratelimit-remaining-tokens': '5',
  });
  expect(quotaOf({ date: 'y' })).toBeUndefined();
});

test('the fullest window of an account', () => {
  expect(usedOf({ 'x-ratelimit-remaining-tokens': '5' })).toBeUndefined();
  expect(
    usedOf({
      'anthropic-ratelimit-unified-5h-utilization': '0.25',
      'anthropic-ratelimit-unified-5h-reset': epoch(60),
      'anthropic-ratelimit-unified-7d-utilization': '0.93',
      'anthropic-ratelimit-unified-7d-reset': epoch(90),
    }),
  ).toEqual({ part: 0.93, until: after(90) });
  expect(usedOf({ 'x-codex-primary-used-percent': '41', 'x-codex-primary-reset-at': epoch(60) })).toEqual({
    part: 0.41,
    until: after(60),
  });
});
