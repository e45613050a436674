import { describe, expect, test } from '@jest/globals';
import {
  contextFill,
  costText,
  firstFit,
  mostCost,
  priceNotes,
  rated,
  whyUnpriced,
  type Rates,
} from '../../../src/domain/agent/cost.ts';
import { addUsage, NO_USAGE, sumUsage, type Usage } from '../../../src/domain/agent/event.ts';
import { fits } from '../../../src/domain/values/wildcard.ts';

const used: Usage = {
  inputTokens: 1_000_000,
  outputTokens: 100_000,
  cachedTokens: 600_000,
  writtenTokens: 300_000,
  costUsd: 0,
  contextTokens: 50_000,
};
const rates: Rates = {
  prices: { 'big-*': { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 }, '*': { input: 1, output: 2 } },
  models: { 'big-*': { context: 200_000 } },
};

describe('cost', () => {
  test('is by the price of the model, the parts of the input each at its own', () => {
    const { costUsd, unpricedTokens } = rated(used, { model: 'big-1', rates, complete: true });
    expect(costUsd).toBeCloseTo(0.1 * 10 + 0.6 * 1 + 0.3 * 12.5 + 0.1 * 50, 9);
    expect(unpricedTokens).toBeUndefined();
  });

  test('of the cache is that of input where the table does not tell', () => {
    expect(rated(used, { model: 'other', rates, complete: true }).costUsd).toBeCloseTo(1 + 0.2, 9);
  });

  test('is what the CLI said, once it has said all', () => {
    const told = { ...used, costUsd: 0.5 };
    expect(rated(told, { model: 'big-1', rates, complete: true }).costUsd).toBe(0.5);
    expect(rated(told, { model: 'big-1', rates, complete: false }).costUsd).toBeGreaterThan(5);
  });

  test('of an unknown model is unknown, not nothing', () => {
    const unknown = rated(used, { model: 'new', rates: { ...rates, prices: {} }, complete: true });
    expect(unknown).toMatchObject({ costUsd: 0, unpricedTokens: 1_100_000 });
    expect(costText(unknown)).toBe('?');
    expect(costText(sumUsage(unknown, { ...NO_USAGE, costUsd: 1.25 }))).toBe('$1.25 + ?');
    expect(rated(used, { model: null, rates, complete: true }).unpricedTokens).toBe(1_100_000);
  });

  test('of no tokens is nothing', () => {
    expect(costText(rated(NO_USAGE, { model: 'new', rates, complete: true }))).toBe('');
  });
});

test('how full the context is, in per cent, where the window is known', () => {
  expect(contextFill(rated(used, { model: 'big-1', rates, complete: true }))).toBe(25);
  expect(contextFill(rated(used, { model: 'other', rates, complete: true }))).toBeUndefined();
  expect(contextFill({ ...used, contextWindow: 100_000 })).toBe(50);
});

test('what an older version counted lacks the newer counts, and is added up all the same', () => {
  const old = { ...NO_USAGE, inputTokens: 5 };
  expect(sumUsage(old, used)).toMatchObject({ inputTokens: 1_000_005, writtenTokens: 300_000 });
  expect(sumUsage(old, old)).not.toHaveProperty('writtenTokens');
  const event = { type: 'usage', input: 3, output: 2, cached: 1, written: 1, reasoning: 2, window: 9 } as const;
  expect(addUsage(used, event)).toMatchObject({
    inputTokens: 1_000_003,
    writtenTokens: 300_001,
    reasoningTokens: 2,
    contextTokens: 50_000,
    contextWindow: 9,
  });
});

test('wildcards fit names as a whole, and the first that fits counts', () => {
  expect(fits('claude-*', 'claude-opus-5')).toBe(true);
  expect(fits('*opus*', 'vendor/claude-opus-5')).toBe(true);
  expect(fits('gpt-?', 'gpt-55')).toBe(false);
  expect(fits('gpt-5', 'gpt-5.1')).toBe(false);
  expect(fits(`${'*a'.repeat(100)}b`, 'a'.repeat(10_000))).toBe(false);
  expect(firstFit(rates.prices, 'big-2')).toMatchObject({ input: 10 });
});

describe('a limit of cost where no price is known', () => {
  const unpriced: Usage = { ...used, unpricedTokens: 1_100_000 };

  test('counts as of the dearest model, by a ceiling without any, and as it is where it is known', () => {
    expect(mostCost(unpriced, rates.prices)).toBeCloseTo(0.1 * 10 + 0.6 * 1 + 0.3 * 12.5 + 0.1 * 50, 9);
    expect(mostCost(unpriced, {})).toBeCloseTo(0.1 * 15 + 0.6 * 1.5 + 0.3 * 18.75 + 0.1 * 75, 9);
    expect(mostCost({ ...used, costUsd: 0.5 }, {})).toBe(0.5);
  });

  test('is said beforehand, and when it ended a run', () => {
    const limits = { costUsd: 5 };
    expect(priceNotes({ limits }, rates.prices)).toEqual([
      expect.stringMatching(/^limits\.costUsd: it names no model;/),
    ]);
    expect(priceNotes({ limits, model: 'x' }, {})).toEqual([expect.stringMatching(/model x has no price in prices/)]);
    expect(priceNotes({ limits, model: 'x' }, rates.prices)).toEqual([]);
    expect(priceNotes({ model: 'x' }, {})).toEqual([]);
    expect(whyUnpriced(unpriced, { model: 'x', limitUsd: 5, prices: {} }).why).toMatch(
      /^model x has no price in prices \(config\.yaml\): counted at \$15 and \$75 .* \$16, more than limits\.costUsd, \$5$|\$15\./,
    );
    expect(whyUnpriced(unpriced, { model: 'x', limitUsd: 50, prices: {} })).toEqual({});
  });
});
