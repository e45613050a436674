import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { GitProcess } from '../../../src/adapters/git/process/client.ts';
import { measureFolder } from '../../../src/adapters/disk/measure-folder.ts';
import { removeTree } from '../../../src/adapters/disk/remove-tree.ts';
import { tempDir } from '../../helpers/temp.ts';

const made: GitProcess[] = [];
afterEach(() => made.splice(0).forEach((runner) => runner.close()));

const du = (...args: string[]): number =>
  Number.parseInt(execFileSync('du', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }), 10);
const byDu = (path: string) => ({ bytes: 1024 * du('-skx', path), files: du('-sx', '--inodes', path) });

test('a folder is as large as du says: names that are no text, links, and many in one', async () => {
  await using temp = await tempDir();
  const top = `${temp.path}/top`;
  mkdirSync(`${top}/many/deeper`, { recursive: true });
  for (let n = 0; n < 2_500; n += 1) writeFileSync(`${top}/many/${n}`, n % 100 ? '' : 'x'.repeat(9_000));
  writeFileSync(Buffer.from(`${top}/\xff\xfe`, 'latin1'), 'x'.repeat(50_000));
  writeFileSync(`${temp.path}/outside`, 'x'.repeat(99_000));
  linkSync(`${top}/many/100`, `${top}/many/deeper/again`);
  linkSync(`${top}/many/100`, `${top}/third`);
  symlinkSync(`${temp.path}/outside`, `${top}/link`);
  symlinkSync(temp.path, `${top}/above`);
  expect(await measureFolder(top)).toEqual(byDu(top));
  expect(await measureFolder(`${top}/third`)).toEqual(byDu(`${top}/third`));
  expect(await measureFolder(`${top}/gone`)).toEqual({ bytes: 0, files: 0 });
  const runner = new GitProcess();
  made.push(runner);
  expect(await runner.folderSize(top)).toEqual(byDu(top));
});

test('nothing hides below a path that is longer than the system takes', async () => {
  await using temp = await tempDir();
  const name = 'd'.repeat(200);
  // Each step from within the one before.
  const script = `const fs = require('fs');
    for (let n = 0; n < 30; n += 1) { fs.mkdirSync('${name}'); process.chdir('${name}'); }
    fs.writeFileSync('large', 'x'.repeat(500_000));`;
  execFileSync(process.execPath, ['-e', script], { cwd: temp.path });
  const size = await measureFolder(temp.path);
  expect(size).toEqual(byDu(temp.path));
  expect(size.bytes).toBeGreaterThan(500_000);
  await removeTree(`${temp.path}/${name}`);
});
