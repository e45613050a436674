import { z } from 'zod';
import type { Usage } from './event.ts';
import { fits, wildcard } from './wildcard.ts';

const usd = z.number().min(0);

/** US dollars per million tokens. */
export const price = z.strictObject({
  input: usd,
  output: usd,
  /** Of input that came from the model's cache; default: as `input`. */
  cacheRead: usd.optional(),
  /** Of input that was written to it; default: as `input`. */
  cacheWrite: usd.optional(),
});
export type Price = z.output<typeof price>;
/** By model, with wildcards; the first that fits counts. */
export const prices = z.record(wildcard, price);
export type Prices = z.output<typeof prices>;

/** What is known of a model beside its price. */
export const models = z.record(wildcard, z.strictObject({ context: z.int().positive() }));
export type Models = z.output<typeof models>;

export const firstFit = <T>(table: Readonly<Record<string, T>>, model: string | null): T | undefined =>
  model === null ? undefined : Object.entries(table).find(([pattern]) => fits(pattern, model))?.[1];

/** The tables of a configuration. */
export interface Rates {
  prices: Prices;
  models: Models;
}

/**
 * A run's usage with what it cost: as the CLI said; else by the price of its model; else not known, and its tokens are
 * `unpricedTokens`. `complete`: the CLI has said all; before that, what it said covers a part only.
 */
export function rated(
  usage: Usage,
  { model, rates, complete }: { model: string | null; rates: Rates; complete: boolean },
): Usage {
  const used = usage.inputTokens + usage.outputTokens;
  const window = usage.contextWindow ?? firstFit(rates.models, model)?.context;
  const sized = window ? { ...usage, contextWindow: window } : usage;
  if (used === 0 || (usage.costUsd > 0 && complete)) return sized;
  const known = firstFit(rates.prices, model);
  if (known) return { ...sized, costUsd: Math.max(usage.costUsd, costOf(usage, known)) };
  return usage.costUsd > 0 ? sized : { ...sized, unpricedTokens: used };
}

export function costOf(usage: Usage, { input, output, cacheRead = input, cacheWrite = input }: Price): number {
  const { inputTokens, outputTokens, cachedTokens, writtenTokens = 0 } = usage;
  const fresh = Math.max(0, inputTokens - cachedTokens - writtenTokens);
  return (fresh * input + cachedTokens * cacheRead + writtenTokens * cacheWrite + outputTokens * output) / 1_000_000;
}

/** `$0.12`; `?` where no cost is known; `$0.12 + ?` where that of a part is not; empty where nothing was used. */
export function costText({ costUsd, unpricedTokens = 0 }: Pick<Usage, 'costUsd' | 'unpricedTokens'>): string {
  const known = costUsd > 0 ? `$${costUsd < 0.995 ? costUsd.toPrecision(2) : costUsd.toFixed(2)}` : '';
  return [known, unpricedTokens > 0 ? '?' : ''].filter(Boolean).join(' + ');
}

/** Full to so many per cent, where the size of the model's window is known. */
export function contextFill({ contextTokens, contextWindow }: Usage): number | undefined {
  return contextTokens && contextWindow ? Math.min(100, Math.round((100 * contextTokens) / contextWindow)) : undefined;
}
