import { expect, test } from '@jest/globals';
import { levelOf, shortOf, type Space } from '../../../src/domain/worker/disk.ts';

const limits = { floorBytes: 1_000, reserveBytes: 100 };
const free = (freeBytes: number, files: Space['files'] = null): Space => ({ freeBytes, files });

test('ample, low and full, and ample again only well above the floor', () => {
  expect(levelOf(free(1_000), limits, 'ample')).toBe('ample');
  expect(levelOf(free(999), limits, 'ample')).toBe('low');
  expect(levelOf(free(1_050), limits, 'low')).toBe('low');
  expect(levelOf(free(1_100), limits, 'low')).toBe('ample');
  expect(levelOf(free(99), limits, 'ample')).toBe('full');
  expect(levelOf(free(100), limits, 'full')).toBe('low');
});

test('a disk without room for more files is as bad', () => {
  const left = (count: number) => levelOf(free(1e12, { free: count, most: 2_000 }), limits, 'ample');
  expect([left(100), left(99), left(20), left(19)]).toEqual(['ample', 'low', 'low', 'full']);
  expect(levelOf(free(1e12, { free: 10_000, most: 1e9 }), limits, 'ample')).toBe('ample');
});

test('says what is short, where, and what to do', () => {
  expect(shortOf(free(1.2e9), { floorBytes: 2e9, reserveBytes: 1 }, '/home/me/.fleet')).toBe(
    'the disk of /home/me/.fleet is short: 1.2 GB free, less than disk.floor (2.0 GB); make room there, by fleet clean for one',
  );
  expect(shortOf(free(1e12, { free: 7, most: 2_000 }), limits, '/x')).toContain(
    'only 7 of 2000 files can still be made',
  );
});
