import { closeSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { PipeStock } from '../../src/adapters/keeper/pipe-stock.ts';
import { openPipes } from '../../src/adapters/keeper/pipes.ts';
import { tempDir } from '../helpers/temp.ts';

test('pipes are made many at once, and each is for one use', async () => {
  await using temp = await tempDir();
  const stock = PipeStock.of(temp.path);
  expect(PipeStock.of(temp.path)).toBe(stock);
  const taken = (await Promise.all(Array.from({ length: 20 }, () => stock.take(2)))).flat();
  expect(new Set(taken).size).toBe(40);
  expect(taken.every((path) => statSync(path).isFIFO() && (statSync(path).mode & 0o777) === 0o600)).toBe(true);
  const [folder = ''] = readdirSync(`${temp.path}/scratch`);
  // Two batches.
  expect(readdirSync(`${temp.path}/scratch/${folder}`)).toHaveLength(64);
  for (const path of taken) rmSync(path);
  expect(readdirSync(`${temp.path}/scratch/${folder}`)).toHaveLength(24);
});

test('where a worker has cleared them, others are made', async () => {
  await using temp = await tempDir();
  const stock = PipeStock.of(temp.path);
  await stock.take(1);
  rmSync(`${temp.path}/scratch`, { recursive: true });
  const [path = ''] = await stock.take(1);
  expect(statSync(path).isFIFO()).toBe(true);
  const pipes = await openPipes(stock, 2);
  expect(pipes).toHaveLength(2);
  for (const { read, write } of pipes) [read, write].forEach((fd) => closeSync(fd));
  const near = await stock.takeFor('/dev/shm');
  expect([near.startsWith('/dev/shm/'), existsSync(near)]).toEqual([true, true]);
  rmSync(near);
});
