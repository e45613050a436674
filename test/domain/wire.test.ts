import { describe, expect, test } from '@jest/globals';
import type { CoderFailure } from '../../src/domain/event.ts';
import { endedBy, type WireExchange, type WireLog } from '../../src/domain/wire.ts';

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

  test('is believed where the wire may lack something, or was never used', () => {
    expect(endedBy(said('auth'), null, false)).toEqual(said('auth'));
    expect(endedBy(said('auth'), log(), false)).toEqual(said('auth'));
    expect(endedBy(said('auth'), { ...log(undefined), whole: false }, false)).toEqual(said('auth'));
    expect(endedBy(said('auth'), { ...log(undefined), unseen: 'a login' }, false)).toEqual(said('auth'));
    // A model that sends nothing leaves no error.
    expect(endedBy(said('overloaded'), log(undefined), false)).toEqual(said('overloaded'));
  });
});
