import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { expect, test } from '@jest/globals';
import { homeLayout } from '../../../src/domain/names.ts';
import { lockWorker } from '../../../src/workers/health/locks.ts';
import { tempDir } from '../../helpers/temp.ts';

test('the name of a worker goes with its home, and is hidden from agents only as long as that is there', async () => {
  await using temp = await tempDir();
  const name = (which: string) => `${which}-${process.pid}`;
  const fileOf = (which: string) => `${tmpdir()}/fleet-workers-${userInfo().uid}/${name(which)}.lock`;
  const home = (which: string) => homeLayout(`${temp.path}/${which}`);
  for (const which of ['gone', 'kept']) {
    await mkdir(home(which).root);
    (await lockWorker(home(which), name(which))).release();
  }
  const live = await lockWorker(home('live'), name('live'));
  const mine = await lockWorker(home('mine'), name('mine'));
  await rm(home('gone').root, { recursive: true });
  const others = () => mine.otherHomes().filter((root) => root.startsWith(temp.path));
  expect(others().sort()).toEqual([home('kept').root, home('live').root]);

  const next = await lockWorker(home('next'), name('next'));
  expect(['gone', 'kept', 'live', 'mine', 'next'].map((which) => existsSync(fileOf(which)))).toEqual([
    ...[false, true, true, true, true],
  ]);
  await expect(lockWorker(home('other'), name('live'))).rejects.toThrow('is already running on this machine');
  for (const held of [live, mine, next]) held.release();
  await rm(temp.path, { recursive: true });
  const last = await lockWorker(home('last'), name('last'));
  expect(['kept', 'live', 'mine', 'next'].map((which) => existsSync(fileOf(which)))).toEqual([
    false,
    false,
    false,
    false,
  ]);
  last.release();
  await rm(fileOf('last'));
});
