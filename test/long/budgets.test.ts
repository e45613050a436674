import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Holds } from '../../src/activities/worker/claim-holds.ts';
import { loadConfig } from '../../src/config.ts';
import type { StatsRow } from '../../src/domain/list/stats.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { startBudgets } from '../../src/workers/coders/budgets.ts';
import { TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';
import { usageCoder } from '../helpers/usage-coder.ts';

let fleet: TestFleet;
let worker: TestWorker;
const budgets = [
  { queue: 'a', costUsd: 0.4 },
  { repo: '*/over', tokens: 100 },
];
const coders = { dear: usageCoder(2_000, 200, 0.5), fail: usageCoder(500, 50, 'fail'), free: usageCoder(10, 1) };
const start = (more: object = {}) =>
  fleet.worker('budget', { worker: { slots: 4, queues: ['a', 'b'], coder: 'dear' }, coders, budgets, ...more });
const enqueue = (input: Partial<TaskInput>) =>
  fleet.fleet.enqueue({ objective: 'Make it', retry: { maxAttempts: 1 }, ...input });

beforeAll(async () => {
  fleet = await TestFleet.start();
  worker = await start();
});
afterAll(() => fleet[Symbol.asyncDispose]());

test('statistics of a known set of tasks, from lists alone', async () => {
  const repo = await fleet.repo('one');
  const ids = [
    await enqueue({ repo, queue: 'b' }),
    await enqueue({ repo, queue: 'b' }),
    await enqueue({ repo, queue: 'b', coder: 'fail', retry: { maxAttempts: 2, backoff: '1s' } }),
    await enqueue({ repo, queue: 'b', coder: 'free', type: 'research', verify: { commands: ['false'] } }),
  ];
  const ends = await Promise.all(ids.map((id) => fleet.settled(id)));
  expect(ends.map(({ state }) => state)).toEqual(['done', 'done', 'parked', 'parked']);
  const rows = async (...args: string[]) => {
    const { stdout, stderr } = await fleet.cli(['stats', '--json', ...args]);
    if (stderr) throw new Error(stderr);
    return JSON.parse(stdout) as { rows: StatsRow[]; all: StatsRow };
  };
  // Lists lag by a moment.
  const { all } = await until(async () => {
    const found = await rows();
    return found.all.tasks === 4 && found.all.tokens === 4_400 + 1_100 + 11 ? found : undefined;
  });
  expect(all).toMatchObject({
    ...{ accepted: 2, parked: 2, failed: 0, costUsd: 1, unpricedRuns: 3, costPerAcceptedUsd: null },
    rejected: { fabricated: 2, 'scope-violation': 1 },
    medianSeconds: expect.any(Number),
  });
  const byCoder = (await rows('--by', 'coder')).rows;
  expect(
    byCoder.map(({ group, tasks, tokens, costUsd, costPerAcceptedUsd }) => ({
      group,
      tasks,
      tokens,
      costUsd,
      costPerAcceptedUsd,
    })),
  ).toEqual([
    { group: 'dear', tasks: 2, tokens: 4_400, costUsd: 1, costPerAcceptedUsd: 0.5 },
    { group: 'fail', tasks: 1, tokens: 1_100, costUsd: 0, costPerAcceptedUsd: null },
    { group: 'free', tasks: 1, tokens: 11, costUsd: 0, costPerAcceptedUsd: null },
  ]);
  expect((await rows('--by', 'type')).rows.map(({ group, tasks }) => [group, tasks])).toEqual([
    ['code', 3],
    ['research', 1],
  ]);
  expect((await rows('--by', 'repo')).rows).toMatchObject([{ group: repo, tasks: 4 }]);
  expect((await rows('--by', 'model')).rows.map(({ group }) => group)).toContain('dear/default-model');
  expect((await rows('--by', 'day', '--since', '1h')).rows).toHaveLength(1);
  expect((await rows('--since', '2999-01-01')).all.tasks).toBe(0);
  expect((await fleet.cli(['stats', '--by', 'coder'])).stdout).toMatch(/^dear +2 +2 \(100 %\).*\$1\.00 +\$0\.50/m);
  expect((await fleet.cli(['stats', '--csv', '--by', 'coder'])).stdout).toMatch(
    /^dear,2,2,0,0,0,[\d.]+,4400,1,0,0\.5,$/m,
  );
  expect((await fleet.cli(['stats', '--since', 'soon'])).stderr).toMatch(
    /--since must be a duration such as 7d, or a date/,
  );
});

test('a budget that is used up holds what it is for, and nothing else, and says when it opens again', async () => {
  const [repo, over] = [await fleet.repo('two'), await fleet.repo('over')];
  await fleet.settled(await enqueue({ repo, queue: 'a' }));
  await fleet.settled(await enqueue({ repo: over, queue: 'b' }));
  const spent = await until(async () => {
    const found = (await worker.view()).budgets ?? [];
    return found.length === 2 ? found : undefined;
  });
  const midnight = new Date(new Date().setHours(24, 0, 0, 0)).toISOString();
  expect(spent.map(({ said }) => said)).toEqual([
    `budgets[0], $0.4 a day for queue a, is used up ($0.50); it opens again at ${midnight}`,
    `budgets[1], 100 tokens a day for repository */over, is used up (2200); it opens again at ${midnight}`,
  ]);
  const held = [await enqueue({ repo, queue: 'a' }), await enqueue({ repo: over, queue: 'b' })];
  expect((await fleet.settled(await enqueue({ repo, queue: 'b' }))).state).toBe('done');
  for (const [index, id] of held.entries()) {
    expect((await fleet.fleet.view(id)).state).toBe('queued');
    expect((await fleet.fleet.explain(id)).sentence).toBe(
      `waiting: worker ${worker.name} takes no run of it: ${spent[index]!.said}`,
    );
  }
  expect((await fleet.cli(['workers'])).stdout).toContain('budgets[0], $0.4 a day for queue a, is used up');

  // As another process would see it: held today, open tomorrow, and a hold where nothing else is left.
  const config = { ...loadConfig({ home: '/nonexistent', env: {} }), budgets: [{ per: 'day' as const, costUsd: 1 }] };
  const holds = new Holds();
  const watch = (now: number) => startBudgets({ config, holds, client: fleet.client, log: () => {}, now: () => now });
  const today = await watch(Date.now());
  await today.stop();
  expect(today.shut('fleet@m/claude')).toBe(true);
  expect(holds.reasons).toEqual([expect.stringMatching(/^budgets\[0\], \$1 a day, is used up \(\$[\d.]+\); it opens/)]);
  const tomorrow = await watch(Date.parse(midnight) + 1_000);
  await tomorrow.stop();
  expect(tomorrow.spent()).toEqual([]);
  expect(holds.open).toBe(true);

  // More is allowed: what waited is claimed.
  await worker.stop('SIGTERM');
  worker = await start({ budgets: [{ queue: 'a', costUsd: 40 }] });
  expect((await fleet.settled(held[0]!)).state).toBe('done');
});
