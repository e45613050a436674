import { existsSync, mkdirSync, statSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { giveUpReserve, makeReserve } from '../../../src/adapters/disk/reserve.ts';
import { isDiskTrouble } from '../../../src/adapters/disk/free-space.ts';
import { persist } from '../../../src/activities/worker/persist.ts';
import { tempDir } from '../../helpers/temp.ts';

test('sets real space aside once, and gives it up once', async () => {
  await using temp = await tempDir();
  const dir = `${temp.path}/reserve`;
  mkdirSync(`${dir}.making`);
  await makeReserve(dir, 3_000_000);
  await makeReserve(dir, 1);
  await makeReserve(dir, 3_000_000);
  const { size, blocks } = statSync(`${dir}/space`);
  expect([size, blocks * 512 >= 3_000_000, existsSync(`${dir}.making`)]).toEqual([3_000_000, true, false]);
  expect([giveUpReserve(dir), giveUpReserve(dir), existsSync(dir)]).toEqual([true, false, false]);
});

test('what the machine is to blame for is told from what the work is', () => {
  const error = (more: object) => Object.assign(new Error('x'), more);
  expect(isDiskTrouble(error({ code: 'ENOSPC' }))).toBe(true);
  expect(isDiskTrouble(error({ stderr: 'fatal: write error: No space left on device' }))).toBe(true);
  expect(isDiskTrouble(new Error('x', { cause: error({ code: 'EROFS' }) }))).toBe(true);
  expect(isDiskTrouble(error({ code: 'ENOENT' }))).toBe(false);
  expect(isDiskTrouble(error({ code: 'ENOENT', syscall: 'mkdir' }))).toBe(true);
});

test('a write that the disk refuses is repeated: from the reserve at once, then when there is room', async () => {
  const asked: string[] = [];
  let reserve = true;
  const disk = {
    giveUpReserve: () => {
      asked.push('reserve');
      const had = reserve;
      reserve = false;
      return had;
    },
    room: async () => void asked.push('room'),
    ...{ wasFullSince: async () => false, excess: async () => undefined, why: () => undefined },
  };
  let failures = 3;
  const write = async () => {
    if (failures-- > 0) throw Object.assign(new Error('full'), { code: failures === 0 ? 'EROFS' : 'ENOSPC' });
    return 'written';
  };
  expect(await persist({ disk }, write)).toBe('written');
  expect(asked).toEqual(['reserve', 'reserve', 'room', 'room']);
  await expect(persist({ disk }, () => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
});
