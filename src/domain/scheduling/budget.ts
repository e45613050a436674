import { z } from 'zod';
import { costText } from '../agent/cost.ts';
import type { RunLine } from '../view/run-summary.ts';
import { name } from '../task/schema.ts';
import { fits } from '../values/wildcard.ts';
import { wildcard } from '../task/wildcard-schema.ts';

const above = 'must be above 0: a budget of 0 would hold everything, which fleet pause is for';

/** What may be used up in a day, of one queue, of repositories, or of all. */
export const budget = z.strictObject({
  queue: name.optional(),
  repo: wildcard.optional(),
  per: z.enum(['day']).default('day'),
  costUsd: z.number().positive({ error: above }).optional(),
  tokens: z.int().positive({ error: above }).optional(),
});
export type Budget = z.output<typeof budget>;
export const budgets = z.array(budget).max(50);

export const budgetFaults = (all: readonly Budget[]): [path: PropertyKey[], message: string][] =>
  all.flatMap(({ costUsd, tokens }, index) =>
    costUsd === undefined && tokens === undefined ? [[['budgets', index], 'needs costUsd or tokens']] : [],
  );

/** Where runs were, or are to be, made. */
export interface Spender {
  queue: string;
  repo: string | null;
}

/** A budget that is used up: what it is for takes no new run. */
export interface Spent extends Pick<Budget, 'queue' | 'repo'> {
  /** `budgets[0]` */
  name: string;
  /** `budgets[0], $20 a day for queue nightly, is used up ($20.31); it opens again at 2026-01-02T00:00:00.000Z` */
  said: string;
  /** ISO */
  until: string;
}

const isFor = ({ queue, repo }: Pick<Budget, 'queue' | 'repo'>, spender: Spender): boolean =>
  (queue === undefined || queue === spender.queue) &&
  (repo === undefined || (spender.repo !== null && fits(repo, spender.repo)));

/** Why no run there may be started now. */
export const heldFor = (spent: readonly Spent[], spender: Spender): Spent | undefined =>
  spent.find((one) => isFor(one, spender));

/** Those that the runs which ended since `day.from` have used up. */
export function spentBudgets(
  all: readonly Budget[],
  tasks: readonly (Spender & { runs: readonly RunLine[] })[],
  day: { from: Date; to: Date },
): Spent[] {
  const from = day.from.toISOString();
  return all.flatMap((one, index) => {
    const runs = tasks
      .filter((task) => isFor(one, task))
      .flatMap((task) => task.runs.filter((run) => run.endedAt >= from));
    const tokens = runs.reduce((sum, run) => sum + run.tokens, 0);
    const costUsd = runs.reduce((sum, run) => sum + run.costUsd, 0);
    const over =
      one.costUsd !== undefined && costUsd >= one.costUsd
        ? `$${one.costUsd} a day${nameOf(one)}, is used up (${costText({ costUsd })})`
        : one.tokens !== undefined && tokens >= one.tokens
          ? `${one.tokens} tokens a day${nameOf(one)}, is used up (${tokens})`
          : undefined;
    if (!over) return [];
    const until = day.to.toISOString();
    const { queue, repo } = one;
    const called = `budgets[${index}]`;
    const said = `${called}, ${over}; it opens again at ${until}`;
    return [{ name: called, ...(queue ? { queue } : {}), ...(repo ? { repo } : {}), said, until }];
  });
}

function nameOf({ queue, repo }: Budget): string {
  const parts = [queue && `queue ${queue}`, repo && `repository ${repo}`].filter(Boolean);
  return parts.length ? ` for ${parts.join(' and ')}` : '';
}

/** The local day around a time. */
export function dayOf(now: Date): { from: Date; to: Date } {
  const at = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
  return { from: at(0), to: at(1) };
}
