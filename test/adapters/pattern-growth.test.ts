import { expect, test } from '@jest/globals';
import { growsBeyond, LONGEST } from '../../src/adapters/artifacts/pattern-growth.ts';

const SECONDS = 1_000;
/** Milliseconds of an expression that takes so long on the longest text, and grows with that power of the length. */
const power = (longest: number, of: number) => (length: number) => longest * (length / LONGEST) ** of;

test.each<[name: string, cost: (length: number) => number, beyond: boolean]>([
  ['one that takes no time', () => 0, false],
  ['a linear one', power(1, 1), false],
  ['a slow one that is square', power(1.5 * SECONDS, 2), false],
  ['a slow one that is linear', power(1.9 * SECONDS, 1), false],
  ['a square one of an hour', power(3_600 * SECONDS, 2), true],
  ['a cubic one of seconds', power(8 * SECONDS, 3), true],
  ['an exponential one', (length) => 1e-4 * 2 ** length, true],
  ['one that is exponential by little', (length) => 1e-4 * 1.02 ** length, true],
])('%s', (_, cost, beyond) => {
  let most = 0;
  const watched = (length: number) => {
    const ms = cost(length);
    most = Math.max(most, ms);
    return ms;
  };
  expect(growsBeyond([watched])).toBe(beyond);
  // It is known before it takes for ever.
  expect(most).toBeLessThan(2 * SECONDS);
});

test('one moment that the engine took for itself says nothing', () => {
  let calls = 0;
  expect(growsBeyond([() => ((calls += 1), calls === 3 ? 300 : 0.01)])).toBe(false);
});

test('texts that all take their time are not all looked at', () => {
  let spent = 0;
  const slow = (length: number) => {
    const ms = power(1.5 * SECONDS, 2)(length);
    spent += ms;
    return ms;
  };
  expect(growsBeyond(Array.from({ length: 36 }, () => slow))).toBe(false);
  expect(spent).toBeLessThan(20 * SECONDS);
});
