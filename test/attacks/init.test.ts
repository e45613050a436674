import { expect, test } from '@jest/globals';
import { attack, fixture, withoutFilter, withoutReadOnlyProc, withoutUserNamespace, type Without } from './lab.ts';

const files = { 'rob-init.pl': fixture('rob-init.pl') };
const rob = (without?: Without) => attack('perl rob-init.pl; exit 1', { files, without });

test('A3, A4: code under test forges no end of its own, and traces nobody who reports it', async () => {
  const open = await rob(withoutUserNamespace);
  expect(open).toMatchObject({ report: 'exit 0', said: expect.stringContaining('pidfd_getfd 1: done') });
  // The user namespace is enough by itself.
  for (const without of [(argv: string[]) => withoutReadOnlyProc(withoutFilter(argv)), undefined]) {
    const { report, said } = await rob(without);
    expect(report).toBe('exit 1');
    const tried = said.split('\n').filter((line) => /^\w+ \d+: /.test(line));
    expect(tried.length).toBeGreaterThanOrEqual(6);
    expect(tried.filter((line) => !/: (EPERM|EACCES|EROFS)$/.test(line))).toEqual([]);
  }
});
