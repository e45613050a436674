import { writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { DrainCounts } from '../../../src/adapters/state/drain-counts.ts';
import {
  leftBehind,
  outcomeOf,
  strongest,
  tallySentence,
  type FleetOrder,
  type Tally,
} from '../../../src/domain/worker/worker.ts';
import { tempDir } from '../../helpers/temp.ts';

const ref = (runId: string) => ({ taskId: 't', runId });
const sum = ({ done, failed, cancelled, parked, handedOver, kept, live }: Tally) =>
  done + failed + cancelled + parked + handedOver + kept + live;

test('what was taken in is the sum of what became of it, however often a step is repeated or cut short', async () => {
  await using temp = await tempDir();
  const held = new Set(['1', '2', '3', '4']);
  const open = () => DrainCounts.open(`${temp.path}/tally.json`, (runId) => held.has(runId));
  let book = await open();
  const { since } = book.read();
  for (const runId of held) await book.tookIn(ref(runId));
  await book.tookIn(ref('1'));
  expect(book.read()).toMatchObject({ takenIn: 4, live: 4 });

  // Killed after the note and before the folder went: the release is repeated.
  await book.ended(ref('1'), 'done');
  book = await open();
  await book.ended(ref('1'), 'done');
  held.delete('1');
  expect(book.read()).toMatchObject({ since, takenIn: 4, done: 1, live: 3 });

  // Its folder is gone, and nobody noted why.
  held.delete('2');
  book = await open();
  await book.ended(ref('3'), 'failed');
  // Released before its worktree was made.
  held.add('5');
  await book.ended(ref('5'), 'cancelled');
  held.delete('3');
  held.delete('5');
  book = await open();
  expect(book.read()).toMatchObject({
    takenIn: 5,
    done: 1,
    failed: 1,
    cancelled: 1,
    handedOver: 1,
    parked: 0,
    live: 1,
  });
  expect(sum(book.read())).toBe(book.read().takenIn);
  expect(tallySentence(book.read())).toBe(
    '5 taken in = 1 done + 1 failed + 1 cancelled + 0 parked + 1 handed over + 1 live',
  );

  expect(leftBehind(book.read())).toMatchObject({ takenIn: 5, handedOver: 2, live: 0 });

  await book.beginAnew();
  expect((await open()).read()).toMatchObject({ takenIn: 0, live: 0 });
});

test('a run that is not held here is not taken in', async () => {
  await using temp = await tempDir();
  const book = await DrainCounts.open(`${temp.path}/tally.json`, () => false);
  await book.tookIn(ref('1'));
  expect(book.counts(ref('1'))).toBe(false);
  expect(book.read().takenIn).toBe(0);
});

test('a spoilt file, or one that cannot be written, holds no worker up', async () => {
  await using temp = await tempDir();
  await writeFile(`${temp.path}/tally.json`, '{"since"');
  const book = await DrainCounts.open(`${temp.path}/tally.json`, () => true);
  await book.tookIn(ref('1'));
  const nowhere = await DrainCounts.open(`${temp.path}/none/tally.json`, () => true);
  await nowhere.tookIn(ref('1'));
  expect([book.read().live, nowhere.read().live]).toEqual([1, 1]);
});

test('a run that the agent spoilt has failed; any other whose task is queued again is handed over', () => {
  expect(outcomeOf('queued-again', 'receipts-rejected')).toBe('failed');
  expect(outcomeOf('queued-again', 'killed')).toBe('handedOver');
  expect(outcomeOf('queued-again', null)).toBe('handedOver');
  expect(outcomeOf('parked', 'receipts-rejected')).toBe('parked');
  expect(outcomeOf('done', null)).toBe('done');
});

test('of two orders the one counts that forbids more', () => {
  const order = (mode: FleetOrder['mode'], at: string): FleetOrder => ({ mode, at, by: 'a', why: '' });
  const [pause, drain, stop] = [order('pause', '3'), order('drain', '2'), order('stop', '1')];
  expect(strongest(null, null)).toBeNull();
  expect(strongest(pause, null)).toBe(pause);
  expect(strongest(pause, drain)).toBe(drain);
  expect(strongest(stop, drain)).toBe(stop);
});
