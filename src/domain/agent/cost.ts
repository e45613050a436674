import type { Models, Price, Prices } from '../routing/rates-schema.ts';
import type { Usage } from './event.ts';
import { fits } from '../values/wildcard.ts';

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

/** For a limit where the configuration has no price at all: more than what models in wide use cost. */
const CEILING: Price = { input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75 };

/** The most that a run may have cost: tokens without a known price count as of the dearest configured model, or by a ceiling. */
export function mostCost(usage: Usage, prices: Prices): number {
  if (!usage.unpricedTokens) return usage.costUsd;
  const known = Object.values(prices);
  const all = known.length > 0 ? known : [CEILING];
  return Math.max(usage.costUsd, ...all.map((each) => costOf(usage, each)));
}

/** Why a limit of cost ended a run of which nobody knows the cost. */
export function whyUnpriced(
  usage: Usage,
  { model, limitUsd, prices }: { model: string | null; limitUsd: number | undefined; prices: Prices },
): { why?: string } {
  const most = mostCost(usage, prices);
  if (limitUsd === undefined || !usage.unpricedTokens || most <= limitUsd) return {};
  const what = model === null ? 'no model was named' : `model ${model} has no price in prices (config.yaml)`;
  return {
    why: `${what}: counted ${measureOf(prices)} it may have cost ${costText({ costUsd: most })}, more than limits.costUsd, $${limitUsd}`,
  };
}

const measureOf = (prices: Prices): string =>
  Object.keys(prices).length > 0
    ? 'as the dearest one there'
    : `at $${CEILING.input} and $${CEILING.output} a million tokens`;

/** What the owner of a task with a limit of cost should know where the model that it names has no price. */
export function priceNotes(
  task: { model?: string | undefined; limits?: { costUsd?: number | undefined } | undefined },
  prices: Prices,
): string[] {
  const { model, limits } = task;
  if (!limits?.costUsd || (model !== undefined && firstFit(prices, model))) return [];
  const what = model === undefined ? 'it names no model' : `model ${model} has no price in prices (config.yaml) here`;
  return [`limits.costUsd: ${what}; where its worker knows no price, its tokens count ${measureOf(prices)}`];
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
