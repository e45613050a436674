import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { isIgnored, parseIgnore } from '../../src/adapters/git/capture/ignore-rules.ts';
import { matches } from '../../src/adapters/glob.ts';
import { git } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';
import { cpuMsOf } from '../helpers/cpu.ts';

const PATTERNS = [
  ...[
    'a',
    '/a',
    'a/',
    '*.js',
    'a/b',
    '/a/*',
    '**/c',
    'a/**',
    'a/**/c',
    '**/b/**',
    '!a',
    '!*.js',
    '#a',
    '\\#a',
    '\\!a',
    'a ',
    'a\\ ',
  ],
  ...[
    '[ab].js',
    '[!a].js',
    '[a-c]',
    '[[:digit:]]*',
    '[]a]',
    '[a',
    '?',
    '??',
    'a?c',
    'a**c',
    '*/c',
    '**',
    '*',
    '!*/',
    '/',
    '//a',
    'a//b',
  ],
  ...[
    '\\*',
    '*.j[s-t]',
    'x\\',
    '**/',
    'a/b/',
    '/**/c',
    'b/*.js',
    '[^ab]',
    '\\a',
    'ab*',
    '*b*c*',
    '!b/c',
    '[a\\]]',
    'é*',
    '\t',
    'a\r',
  ],
];
const PATHS = [
  'a',
  'b',
  'c',
  'abc',
  'a.js',
  'b.js',
  'd.js',
  'a.jt',
  '1x',
  ']',
  '#a',
  '!a',
  'a ',
  '*',
  'aXc',
  'a/b',
  'a/c',
  'a/b/c',
  'b/c',
  'b/x.js',
  'b/a/c',
  'x/a',
  'x/y/z/c',
  'éa',
  '.hidden',
  'ab',
  'a/b/c/d',
  'x\\',
];

test('says what git check-ignore says, for each pattern alone and for random sets', async () => {
  await using temp = await tempDir();
  git(temp.path, 'init', '-q');
  const sets = PATTERNS.map((one) => [one]);
  let seed = 7;
  const random = (n: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % n;
  for (let i = 0; i < 60; i += 1)
    sets.push(Array.from({ length: 2 + random(4) }, () => PATTERNS[random(PATTERNS.length)] as string));
  const wrong: string[] = [];
  for (const lines of sets) {
    writeFileSync(`${temp.path}/.gitignore`, `${lines.join('\n')}\n`);
    const files = [parseIgnore('', latin1(lines.join('\n')))];
    const out = execFileSync('sh', ['-c', 'git check-ignore --no-index -z --stdin || true'], {
      cwd: temp.path,
      input: PATHS.map((path) => `${path}\0`).join(''),
    });
    const expected = new Set(out.toString().split('\0'));
    for (const path of PATHS)
      if (expected.has(path) !== ignoredWithFolders(files, latin1(path)))
        wrong.push(`${JSON.stringify(lines)} ${path}`);
  }
  expect(wrong).toEqual([]);
});

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

function ignoredWithFolders(files: Parameters<typeof isIgnored>[0], path: string): boolean {
  const parts = path.split('/');
  for (let i = 1; i < parts.length; i += 1) if (isIgnored(files, parts.slice(0, i).join('/'), true)) return true;
  return isIgnored(files, path, false);
}

test('no pattern makes it slow', async () => {
  const taken = await cpuMsOf(() => {
    isIgnored([parseIgnore('', '**/a/**/a/**/a/**/a/**/a/**/b')], `${'a/'.repeat(2_000)}c`, false);
    isIgnored([parseIgnore('', '*a*b*a*b*a*b*a*b*c')], 'ab'.repeat(120), false);
  });
  expect(taken).toBeLessThan(200);
});

test('globs: a name without wildcards is a file, or a folder with all below it', () => {
  for (const glob of ['test', 'test/', './test']) {
    expect(['test', 'test/a', 'test/.b/c', 'testing', 'x/test'].map(matches([glob]))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  }
  expect(['a.ts', '.a.ts', 'x/a.ts'].map(matches(['*.ts']))).toEqual([true, true, false]);
  expect(matches([])('a')).toBe(false);
});
