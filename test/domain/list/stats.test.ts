import { expect, test } from '@jest/globals';
import { budget, dayOf, heldFor, spentBudgets } from '../../../src/domain/scheduling/budget.ts';
import { candidateIds, countLines, isCompareId, ranked, type Candidate } from '../../../src/domain/list/compare.ts';
import type { RunLine } from '../../../src/domain/view/run-summary.ts';
import { statsBy, statsOf, type TaskFigures } from '../../../src/domain/list/stats.ts';

const line = (over: Partial<RunLine> = {}): RunLine => ({
  startedAt: '2026-01-01T09:00:00Z',
  ...{ n: 1, endedAt: '2026-01-01T10:00:00Z', coder: 'a', model: 'm', outcome: 'accepted', tokens: 100, seconds: 5 },
  ...{ costUsd: 1, unpriced: false, ...over },
});
const task = (over: Partial<TaskFigures> = {}): TaskFigures => ({
  ...{ id: 't', state: 'done', type: 'code', repo: '/r', coder: 'a', model: 'm' },
  ...{ createdAt: '2026-01-01T09:00:00Z', endedAt: '2026-01-01T09:00:10Z', runs: [line()], ...over },
});

test('a task that another coder ended counts for both, and as accepted for one', () => {
  const escalated = task({
    endedAt: '2026-01-01T09:00:21Z',
    runs: [line({ outcome: 'stalled', costUsd: 0.5 }), line({ n: 2, coder: 'b', costUsd: 3 })],
  });
  const parked = task({ state: 'parked', runs: [line({ coder: 'b', outcome: 'fabricated', costUsd: 1 })] });
  const rows = statsBy([task(), escalated, parked], 'coder');
  expect(rows).toMatchObject([
    { group: 'a', tasks: 2, accepted: 1, parked: 0, costUsd: 1.5, costPerAcceptedUsd: 1.5, rejected: { stalled: 1 } },
    { group: 'b', tasks: 2, accepted: 1, parked: 1, costUsd: 4, costPerAcceptedUsd: 4, rejected: { fabricated: 1 } },
  ]);
  expect(statsOf([task(), escalated, parked])).toMatchObject({
    ...{
      group: 'all',
      tasks: 3,
      accepted: 2,
      medianSeconds: 15.5,
      tokens: 400,
      costUsd: 5.5,
      costPerAcceptedUsd: 2.75,
    },
  });
  expect(statsOf([])).toMatchObject({ tasks: 0, medianSeconds: null, costPerAcceptedUsd: null });
});

test('a cost that is not known makes the cost of an accepted task unknown, not cheap', () => {
  const unknown = task({ runs: [line({ costUsd: 0, unpriced: true })] });
  expect(statsOf([task(), unknown])).toMatchObject({ costUsd: 1, unpricedRuns: 1, costPerAcceptedUsd: null });
});

test('a budget adds up what ended today where it is for, and says when it opens', () => {
  const day = dayOf(new Date(2026, 0, 1, 15));
  const today = new Date(2026, 0, 1, 9).toISOString();
  const before = new Date(2025, 11, 31, 23).toISOString();
  const all = [
    budget.parse({ queue: 'q', costUsd: 2 }),
    budget.parse({ repo: '*/x', tokens: 150 }),
    budget.parse({ tokens: 1_000 }),
  ];
  const at = (queue: string, repo: string | null, endedAt: string) => ({ queue, repo, runs: [line({ endedAt })] });
  const spent = (...tasks: ReturnType<typeof at>[]) => spentBudgets(all, tasks, day).map(({ name }) => name);
  expect(spent(at('q', null, today), at('q', null, before), at('other', '/y', today))).toEqual([]);
  expect(spent(at('q', null, today), at('q', '/x', today))).toEqual(['budgets[0]']);
  expect(spent(at('p', '/x', today), at('q', 'https://h/x', today))).toEqual(['budgets[1]']);
  const [held] = spentBudgets(all, [at('q', null, today), at('q', '/y', today)], day);
  expect(held).toEqual({
    ...{ name: 'budgets[0]', queue: 'q', until: new Date(2026, 0, 2).toISOString() },
    said: `budgets[0], $2 a day for queue q, is used up ($2.00); it opens again at ${new Date(2026, 0, 2).toISOString()}`,
  });
  expect(heldFor([held!], { queue: 'q', repo: null })).toBe(held);
  expect(heldFor([held!], { queue: 'p', repo: '/y' })).toBeUndefined();
});

const candidate = (spec: string, over: Partial<Candidate>): Candidate => ({
  ...{ id: spec, spec, coder: spec, model: null, state: 'done', reason: null, message: null, accepted: true },
  ...{ attempts: 1, seconds: 10, tokens: 100, costUsd: 1, unpricedTokens: 0, files: 1, lines: null, review: null },
  ...{ branch: null, commit: null, ...over },
});

test('the best: receipts, then review, then cost, and an unknown cost is not cheap', () => {
  const order = ranked([
    candidate('unknown', { costUsd: 0, unpricedTokens: 9 }),
    candidate('rejected', { accepted: false, costUsd: 0.01, review: true }),
    candidate('cheap', { costUsd: 0.5 }),
    candidate('reviewed', { costUsd: 5, review: true }),
    candidate('lean', { costUsd: 0.5, tokens: 50 }),
  ]);
  expect(order.map(({ spec }) => spec)).toEqual(['reviewed', 'lean', 'cheap', 'unknown', 'rejected']);
});

test('task ids of candidates are the same for the same list, and never one for two', () => {
  const ids = [
    ...candidateIds('cmp', ['claude', 'codex:o3', 'codex:O3!', 'x:vendor/very-long-model-name-indeed']).values(),
  ];
  expect(ids).toEqual(['cmp-claude', 'cmp-codex-o3', 'cmp-codex-o3-3', 'cmp-x-vendor-very-long-model']);
  expect(isCompareId('a'.repeat(37))).toBe(false);
});

test('changed lines of a patch, without its headers', () => {
  const patch =
    'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old\n+++ new\n same\n+more\ndiff --git a/y b/y\n+++ b/y\n@@ -0,0 +1 @@\n+y\n';
  expect(countLines(patch)).toEqual({ added: 3, removed: 1 });
});
