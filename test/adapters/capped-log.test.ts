import { expect, test } from '@jest/globals';
import { CappedLog } from '../../src/adapters/keeper/capped-log.ts';
import { tempDir } from '../helpers/temp.ts';

const MB = 1024 * 1024;
const lines = (word: string, bytes: number) => Buffer.from(`${word}\n`.repeat(bytes / (word.length + 1)));

test('what a command wrote has nothing of the one before, also when the log was full', async () => {
  await using temp = await tempDir();
  const path = `${temp.path}/log`;
  const before = new CappedLog(path);
  before.write(lines('not ok 1 - before', 7 * MB));
  before.close();
  const log = new CappedLog(path);
  log.write(Buffer.from('begin\n'));
  for (let i = 0; i < 2; i += 1) log.write(lines('mine', MB));
  const { written } = log;
  log.close();
  expect(written).not.toContain('before');
  expect(written.startsWith('begin\nmine\n')).toBe(true);
  expect(written.endsWith('mine\n')).toBe(true);
});

test('of a long output the first and the last 256 KB are read', async () => {
  await using temp = await tempDir();
  const log = new CappedLog(`${temp.path}/log`);
  log.write(Buffer.concat([Buffer.from('begin\n'), lines('middle', 4 * MB), Buffer.from('end\n')]));
  const { written } = log;
  log.close();
  expect(written.startsWith('begin\n')).toBe(true);
  expect(written).toContain('output dropped here');
  expect(written.endsWith('end\n')).toBe(true);
  expect(written.length).toBeLessThan(520 * 1024);
});
