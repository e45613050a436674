import { expect, test } from '@jest/globals';
import { fold, newTwins } from '../../../src/domain/evidence/path-collisions.ts';
import { cpuMsOf } from '../../helpers/cpu.ts';

const twins = (base: string[], after: string[]) =>
  newTwins({ base, after, added: after.filter((path) => !new Set(base).has(path)) });

test.each([
  ['README.md', 'readme.MD'],
  ['caf\u00e9', 'cafe\u0301'],
  ['te\u200cst', 'test'],
  ['stra\u00dfe', 'STRASSE'],
  ['\u017ftyle', 'style'],
  ['\u212aey', 'key'],
  ['a.txt.', 'a.txt'],
  ['dir /x', 'dir/x'],
  ['x\ufe0f', 'x'],
])('%s and %s are one on some file system', (a, b) => expect(fold(a)).toBe(fold(b)));

test.each([
  ['a', 'b'],
  ['...', '.'],
  ['a/b', 'a-b'],
  ['.gitignore', 'gitignore'],
])('%s and %s never are', (a, b) => expect(fold(a)).not.toBe(fold(b)));

test('new twins of files and of folders, of what is there and of each other', () => {
  const base = ['readme', 'src/a.ts', 'caf\u00e9'];
  expect(twins(base, [...base, 'README', 'Src/b.ts', 'cafe\u0301', 'new/x', 'New/x'])).toEqual([
    { path: 'README', of: 'readme' },
    { path: 'Src', of: 'src' },
    { path: 'cafe\u0301', of: 'caf\u00e9' },
    { path: 'new', of: 'New' },
  ]);
});

test('neither a renaming to another case, nor twins of the base, nor anything below its folders', () => {
  expect(twins(['README.md', 'src/a'], ['readme.md', 'Src/a'])).toEqual([]);
  const known = ['Makefile', 'makefile', 'Doc/a', 'doc/a'];
  expect(twins(known, [...known, 'doc/b', 'Doc/c'])).toEqual([]);
});

test('200,000 files are no matter', async () => {
  const files = Array.from({ length: 200_000 }, (_, i) => `src/d${i % 500}/f${i}.ts`);
  const find = () => newTwins({ base: files, after: [...files, 'SRC/x'], added: ['SRC/x'] });
  expect(await cpuMsOf(() => expect(find()).toEqual([{ path: 'SRC', of: 'src' }]))).toBeLessThan(3_000);
});
