import { describe, expect, test } from '@jest/globals';
import { NO_USAGE, type CoderFailure, type Usage } from '../../../src/domain/agent/event.ts';
import { modelOf } from '../../../src/activities/output/usage.ts';
import { createCoders } from '../../../src/coders/registry.ts';
import {
  endedBy,
  greaterUsage,
  sumOf,
  type WireExchange,
  type WireLog,
  type WireSum,
} from '../../../src/domain/agent/model-traffic.ts';

const exchange = (failure?: CoderFailure): WireExchange => ({
  ...{ type: 'exchange', at: '', path: '/v1/messages', status: failure ? 400 : 200, firstByteMs: 1, ms: 1 },
  ...{ sent: 1, received: 1, calls: [], results: [], model: 'm' },
  ...(failure ? { error: { failure, message: 'no' } } : {}),
});
const log = (...failures: (CoderFailure | undefined)[]): WireLog => ({
  ...{ unseen: null, whole: true, exchanges: failures.map(exchange) },
});
const said = (failure: CoderFailure | null) => ({ ok: false, failure });

describe('how a coder ended', () => {
  test('is what the wire saw where the coder cannot tell', () => {
    expect(endedBy(said('agent-error'), log('overloaded'), false)).toEqual(said('overloaded'));
    expect(endedBy(null, log('rate-limited'), true)).toEqual(said('rate-limited'));
    expect(endedBy(null, log('rate-limited'), false)).toBeNull();
    expect(endedBy({ ok: true, failure: null }, log('overloaded'), false)).toEqual({ ok: true, failure: null });
  });

  test.each<CoderFailure>(['rate-limited', 'auth'])('is no %s that the model’s server never answered', (failure) => {
    expect(endedBy(said(failure), log(undefined), false)).toEqual(said('agent-error'));
    expect(endedBy(said(failure), log(undefined, 'overloaded'), false)).toEqual(said('overloaded'));
    expect(endedBy(said(failure), log(failure, undefined), false)).toEqual(said(failure));
  });

  test('is a model that gave no answer where one was given up, and not where all were answered', () => {
    const cut = { ...log(undefined), exchanges: [{ ...exchange(), cut: true as const }] };
    expect(endedBy(said('overloaded'), cut, false)).toEqual(said('overloaded'));
    expect(endedBy(said('overloaded'), log(undefined), false)).toEqual(said('agent-error'));
  });

  test('is no refusal of a coder that said nothing: an agent can have itself refused, and then kill it', () => {
    expect(endedBy(null, log('auth'), true)).toBeNull();
    expect(endedBy(said('agent-error'), log('auth'), false)).toEqual(said('auth'));
    expect(endedBy(said('auth'), log(), false)).toEqual(said('agent-error'));
  });

  test('is believed where the wire may lack something, or was never used', () => {
    expect(endedBy(said('auth'), null, false)).toEqual(said('auth'));
    expect(endedBy(said('auth'), { ...log(undefined), whole: false }, false)).toEqual(said('auth'));
    expect(endedBy(said('auth'), { ...log(undefined), unseen: 'a login' }, false)).toEqual(said('auth'));
    expect(endedBy(said('overloaded'), { ...log(undefined), whole: false }, false)).toEqual(said('overloaded'));
    expect(endedBy(said('overloaded'), log(), false)).toEqual(said('agent-error'));
  });
});

const answered = (more: Partial<WireExchange> = {}): WireExchange => {
  const { model: _, ...plain } = exchange();
  return { ...plain, ...more };
};
const usage = { input: 100, output: 10, cached: 60, written: 5, reasoning: 2 };
const error = { failure: 'rate-limited', message: '429' } as const;
const sum = (...exchanges: WireExchange[]) => sumOf({ unseen: null, exchanges, whole: true });

test('tokens of all exchanges add up, the context is the last one’s', () => {
  expect(sum(answered({ usage }), answered({ usage: { ...usage, input: 200 } }), answered()).usage).toMatchObject({
    inputTokens: 300,
    outputTokens: 20,
    cachedTokens: 120,
    writtenTokens: 10,
    reasoningTokens: 4,
    contextTokens: 210,
  });
});

describe('how the model last answered', () => {
  test.each<[string, WireExchange[], WireSum['failed']]>([
    ['well', [answered({ error, until: 'x' }), answered({ usage })], null],
    ['with an error', [answered({ usage }), answered({ error, until: 'x' })], { ...error, until: 'x' }],
    ['a list of models says nothing of it', [answered({ error }), answered()], error],
    ['nor does what the agent broke off', [answered({ error }), answered({ usage, cut: true })], error],
  ])('%s', (_, exchanges, failed) => expect(sum(...exchanges).failed).toEqual(failed));
});

describe('the greater count of tokens is the one that counts, as a whole', () => {
  const of = (inputTokens: number, outputTokens: number, more: Partial<Usage> = {}): Usage => ({
    ...NO_USAGE,
    ...{ inputTokens, outputTokens, ...more },
  });
  test.each<[string, Usage, Usage | undefined, Usage]>([
    ['no wire', of(5, 5), undefined, of(5, 5)],
    [
      'a killed run, whose events lack the output',
      of(100, 1, { costUsd: 2 }),
      of(100, 30, { cachedTokens: 9 }),
      of(100, 30, { cachedTokens: 9, costUsd: 2 }),
    ],
    [
      'codex in mid-run, whose events tell nothing',
      of(0, 0),
      of(700, 30, { contextTokens: 400 }),
      of(700, 30, { contextTokens: 400 }),
    ],
    ['calls that went past the wire', of(900, 30), of(100, 30), of(900, 30)],
    ['the same', of(100, 30, { costUsd: 1 }), of(100, 30), of(100, 30, { costUsd: 1 })],
  ])('%s', (_, events, wire, expected) => expect(greaterUsage(events, wire)).toEqual(expected));
});

test('the model of a run that names none is the one that answered last', () => {
  const { model } = sum(answered({ model: 'small' }), answered({ model: 'big' }), answered({ error }));
  expect(model).toBe('big');
  const follower = { model: null, wired: { usage: NO_USAGE, model } };
  const coder = createCoders().get('opencode')!;
  expect(modelOf(follower, { record: undefined, coder })).toBe('big');
  expect(modelOf({ ...follower, model: 'said' }, { record: undefined, coder })).toBe('said');
});
