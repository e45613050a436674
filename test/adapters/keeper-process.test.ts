import { expect, test } from '@jest/globals';
import {
  bootId,
  identify,
  isAlive,
  parsePs,
  processTable,
  withDescendants,
} from '../../src/adapters/program/process.ts';

test('a process is the same only with its number, its start and its boot', () => {
  const self = identify(process.pid)!;
  expect(isAlive(self)).toBe(true);
  expect(isAlive({ ...self, startTime: '1' })).toBe(false);
  expect(isAlive({ ...self, bootId: 'other' })).toBe(false);
  expect(self.bootId).toBe(bootId());
  expect(identify(2 ** 30)).toBeUndefined();
});

test('the table holds this process below its parent', () => {
  const table = processTable();
  expect(table.get(process.pid)).toMatchObject({ parent: process.ppid, zombie: false, cpuMs: expect.any(Number) });
  expect(withDescendants(table, [process.ppid]).map((entry) => entry.pid)).toContain(process.pid);
});

test('reads the lines of ps, of macOS and of Linux', () => {
  const text =
    '  501     1   501 Ss     0:01.25 Fri Nov 21 09:00:00 2026\n 7 501 501 Z+ 1-02:03:04 Fri Nov 21 09:00:01 2026    \n';
  expect(parsePs(text)).toEqual([
    { pid: 501, parent: 1, group: 501, zombie: false, startTime: 'Fri Nov 21 09:00:00 2026', cpuMs: 1_250 },
    { pid: 7, parent: 501, group: 501, zombie: true, startTime: 'Fri Nov 21 09:00:01 2026', cpuMs: 93_784_000 },
  ]);
});
