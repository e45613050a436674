import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';
import { usageCoder } from '../helpers/usage-coder.ts';

/** Coders that come to a machine while its worker runs. */

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]();
}, 60_000);

test('a coder that is installed later takes the tasks that wait for it', async () => {
  const bin = `${fleet.root}/bin`;
  const repo = await fleet.repo('shop', { 'note.txt': 'hi\n' });
  mkdirSync(bin);
  await fleet.worker('desk', { coders: { agy: { command: [`${bin}/late`], protocol: 'none' } } });
  const id = await fleet.fleet.enqueue({
    objective: 'Add hello.txt',
    repo,
    coder: 'agy',
    verify: ['test -e hello.txt'],
  });
  await until(async () => (await fleet.fleet.view(id)).state === 'queued');
  expect((await fleet.fleet.workers())[0]?.coders.map(({ name }) => name)).not.toContain('agy');
  writeFileSync(`${bin}/late`, '#!/bin/sh\necho hello > hello.txt\n');
  chmodSync(`${bin}/late`, 0o755);
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', coder: 'agy' });
  expect((await fleet.fleet.workers())[0]?.coders).toContainEqual({ name: 'agy', version: 'found' });
});

test('a limit of cost holds for a model without a price', async () => {
  const repo = await fleet.repo('dear', { 'note.txt': 'hi\n' });
  await fleet.worker('spender', {
    worker: { queues: ['dear'] },
    coders: { hang: usageCoder(1_000_000, 100_000, 'hang') },
  });
  const id = await fleet.fleet.enqueue({
    ...{ objective: 'Spend', repo, queue: 'dear', coder: 'hang', limits: { costUsd: 5 } },
  });
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'parked', reason: 'over-budget' });
  expect(report.message).toMatch(/model default-model has no price in prices .*more than limits\.costUsd, \$5/);
});
