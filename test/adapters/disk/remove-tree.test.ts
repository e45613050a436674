import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { execa } from 'execa';
import { expect, test } from '@jest/globals';
import { removeTree } from '../../../src/adapters/disk/remove-tree.ts';
import { tempDir } from '../../helpers/temp.ts';

test('removes folders nested deeper than any path may be long', async () => {
  await using temp = await tempDir();
  const name = 'd'.repeat(240);
  const script = `mkdir deep && cd deep; for i in $(seq 40); do mkdir ${name} && cd ${name}; done; echo x > f`;
  await execa('sh', ['-c', script], { cwd: temp.path });
  await expect(rm(`${temp.path}/deep`, { recursive: true, force: true })).rejects.toThrow('ENAMETOOLONG');
  await removeTree(`${temp.path}/deep`);
  expect(existsSync(`${temp.path}/deep`)).toBe(false);
});
