import { expect, test } from '@jest/globals';
import { matches } from '../../../src/adapters/glob.ts';
import { globsWithin } from '../../../src/domain/artifact/glob-subset.ts';

test.each([
  ['src', 'src'],
  ['src/', 'src'],
  ['src/a.ts', 'src'],
  ['src/a/**', 'src/**'],
  ['src', 'src/**'],
  ['src/a/*.ts', 'src/**/*.ts'],
  ['src/a/b/*.ts', 'src/**/*.ts'],
  ['src/*/a-?.ts', 'src/*/a-?.ts'],
  ['**/*.md', '**'],
  ['docs/{a,b}.md', 'docs'],
  ['app/[id]', 'app/[id]'],
  ['./src/x', 'src'],
])('%s is within %s', (inner, outer) => {
  expect(globsWithin([inner], ['other', outer])).toEqual([]);
});

test.each([
  ['src', 'src/a'],
  ['src2', 'src'],
  ['**', 'src/**'],
  ['*', 'src'],
  ['src/**', 'src/*'],
  ['src/*.ts', 'src/*.js'],
  ['src', 'sr*'],
  ['src/*/', 'src/*'],
  ['src/a.ts', 'src/*.ts'],
  ['{src,etc}/a', 'src/a'],
  ['app/[id]', 'app/i'],
  ['src/**/x', 'src/x'],
])('%s is not within %s, or it cannot be told', (inner, outer) => {
  expect(globsWithin([inner], [outer])).toEqual([inner]);
});

test('what is called within matches no path that the other does not', () => {
  const parts = ['a', 'b', '*', '**', 'a*', '?', '*.ts', '{a,b}', 'a.ts'];
  const globs = parts.flatMap((one) => [one, `${one}/`, ...parts.map((two) => `${one}/${two}`)]);
  const names = ['a', 'b', 'a.ts', 'ab', '.x'];
  const paths = names.flatMap((x) => [
    x,
    ...names.flatMap((y) => [`${x}/${y}`, ...names.map((z) => `${x}/${y}/${z}`)]),
  ]);
  const tests = new Map(globs.map((glob) => [glob, matches([glob])]));
  const wrong: string[] = [];
  for (const inner of globs)
    for (const outer of globs)
      if (
        globsWithin([inner], [outer]).length === 0 &&
        paths.some((path) => tests.get(inner)!(path) && !tests.get(outer)!(path))
      )
        wrong.push(`${inner} in ${outer}`);
  expect(wrong).toEqual([]);
});
