import { expect, test } from '@jest/globals';
import { createAmp } from '../../src/coders/amp.ts';
import { ampProtocol } from '../../src/coders/streams/amp.ts';
import { addUsage, NO_USAGE } from '../../src/domain/agent/event.ts';
import { only, recorded } from './recorded.ts';

test('its input tokens include the cached ones, and each message counts', () => {
  const parse = ampProtocol.parser();
  const events = recorded('amp')['done']!.flatMap((line) => parse(line));
  expect(only(events, 'usage').reduce(addUsage, NO_USAGE)).toMatchObject({
    inputTokens: 25_683,
    cachedTokens: 25_199,
    outputTokens: 20,
  });
});

test('a failed result says why in a field of its own', () => {
  const line = { type: 'result', subtype: 'error_during_execution', is_error: true, error: '401 Unauthorized' };
  expect(ampProtocol.parser()(JSON.stringify(line))).toEqual([
    { type: 'ended', ok: false, text: '401 Unauthorized', failure: 'auth' },
  ]);
});

test('it says that nothing of it was tried with the program', () => {
  expect(createAmp().about?.by).toBe('recorded');
  expect(createAmp().upstream).toBeUndefined();
});
