import { expect, test } from '@jest/globals';
import { attack, fixture, withoutUserNamespace } from './lab.ts';

const files = { 'rob-init.pl': fixture('rob-init.pl') };

test('A3, A4: code under test forges no end of its own, and traces nobody who reports it', async () => {
  const open = await attack('perl rob-init.pl; exit 1', { files, without: withoutUserNamespace });
  expect(open).toMatchObject({ report: 'exit 0', said: expect.stringContaining('pidfd_getfd 1: done') });
  const walled = await attack('perl rob-init.pl; exit 1', { files });
  expect(walled.report).toBe('exit 1');
  const tried = walled.said.split('\n').filter((line) => /^\w+ \d+: /.test(line));
  expect(tried.length).toBeGreaterThanOrEqual(6);
  expect(tried.filter((line) => !/: (EPERM|EACCES)$/.test(line))).toEqual([]);
});
