import { appendFile, readFile, rm } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { Ledger, type LedgerEntry } from '../../src/adapters/ledger.ts';
import { homeLayout } from '../../src/domain/names.ts';
import { tempDir } from '../helpers/temp.ts';

const entry = (n: number): LedgerEntry => ({
  ...{ taskId: 't', workflowRunId: 'w', n, activityType: 'releaseRun', activityId: String(n), at: '' },
});

test('what was noted is known to the next worker, a torn line is dropped, and without the file nothing is known', async () => {
  await using temp = await tempDir();
  const home = homeLayout(temp.path);
  const first = await Ledger.open(home, 's');
  expect(first.newest).toBeUndefined();
  first.note(entry(1));
  first.note(entry(2));
  await appendFile(first.file, '{"taskId":"t","workfl');

  const second = await Ledger.open(home, 's');
  expect(second.newest).toEqual(entry(2));
  expect([1, 2, 3].map((n) => second.has(entry(n)))).toEqual([true, true, false]);
  expect(second.has({ ...entry(1), workflowRunId: 'other' })).toBe(false);
  expect((await Ledger.open(home, 'other')).newest).toBeUndefined();

  await rm(second.file);
  expect([second.newest, second.has(entry(1))]).toEqual([undefined, false]);
  second.note(entry(3));
  expect([second.newest, second.has(entry(1))]).toEqual([entry(3), false]);
});

test('it stays small', async () => {
  await using temp = await tempDir();
  const home = homeLayout(temp.path);
  const first = await Ledger.open(home, 's');
  await appendFile(first.file, Array.from({ length: 2_100 }, (_, n) => `${JSON.stringify(entry(n))}\n`).join(''));
  const second = await Ledger.open(home, 's');
  expect(second.newest).toEqual(entry(2_099));
  expect((await readFile(second.file, 'utf8')).split('\n')).toHaveLength(1_001);
});
