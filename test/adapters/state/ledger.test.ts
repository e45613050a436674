import { appendFile, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { Ledger, type LedgerEntry } from '../../../src/adapters/state/ledger.ts';
import { homeLayout } from '../../../src/domain/names.ts';
import { tempDir } from '../../helpers/temp.ts';

const entry = (n: number, second = n): LedgerEntry => ({
  ...{ taskId: 't', workflowRunId: 'w', n, activityType: 'releaseRun', activityId: String(n) },
  at: new Date(second * 1_000).toISOString(),
});
const numbers = (entries: readonly LedgerEntry[]) => entries.map(({ n }) => n);

test('what was noted is known to the next worker, newest by the clock of the server first, and a torn line is dropped', async () => {
  await using temp = await tempDir();
  const home = homeLayout(temp.path);
  const first = await Ledger.open(home, 's');
  expect(first.expected).toEqual([]);
  first.note(entry(1, 20));
  first.note(entry(2, 10));
  await appendFile(first.file, '{"taskId":"t","workfl');

  const second = await Ledger.open(home, 's');
  expect(numbers(second.expected)).toEqual([1, 2]);
  expect([1, 2, 3].map((n) => second.has(entry(n)))).toEqual([true, true, false]);
  expect(second.has({ ...entry(1), workflowRunId: 'other' })).toBe(false);
  expect((await Ledger.open(home, 'other')).expected).toEqual([]);
});

test('what is missing is so for the next worker, until it is found or forgotten', async () => {
  await using temp = await tempDir();
  const home = homeLayout(temp.path);
  const first = await Ledger.open(home, 's');
  for (const n of [1, 2, 3, 4]) first.note(entry(n));
  first.miss(first.expected.filter(({ n }) => n === 2 || n === 3));
  first.missRun(entry(4));

  const second = await Ledger.open(home, 's');
  expect([numbers(second.expected), numbers(second.missing)]).toEqual([[1], [4, 3, 2]]);
  second.find(second.missing.filter(({ n }) => n === 2));
  second.forget(second.missing.filter(({ n }) => n === 3));

  const third = await Ledger.open(home, 's');
  expect([numbers(third.expected), numbers(third.missing)]).toEqual([[2, 1], [4]]);
  expect([2, 3, 4].map((n) => third.has(entry(n)))).toEqual([true, false, true]);
});

test('it stays small, and drops nothing that is missing', async () => {
  await using temp = await tempDir();
  const home = homeLayout(temp.path);
  const first = await Ledger.open(home, 's');
  const lines = Array.from({ length: 2_100 }, (_, n) =>
    JSON.stringify(n === 7 ? { ...entry(n), missing: true } : entry(n)),
  );
  await appendFile(first.file, `${lines.join('\n')}\n`);
  const second = await Ledger.open(home, 's');
  expect([second.expected[0], numbers(second.missing)]).toEqual([entry(2_099), [7]]);
  expect((await readFile(second.file, 'utf8')).split('\n')).toHaveLength(1_002);
});
