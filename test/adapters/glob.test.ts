import { describe, expect, test } from '@jest/globals';
import { GlobTooSlow, matches } from '../../src/adapters/glob.ts';
import { parseRepoFile } from '../../src/adapters/disk/repo-file.ts';
import { globsWithin } from '../../src/domain/artifact/glob-subset.ts';
import { DEFAULT_RESTORE } from '../../src/domain/repository/protected-paths.ts';
import { parseTask } from '../../src/domain/task/parse.ts';

const BRACES = `${'{a,a}'.repeat(28)}b`;
/** Within the bounds of a glob, and hours on the path below. */
const STARS = '*a*a*a*a*a*a*a*b';

describe('a glob of a task or a repository stops nobody', () => {
  test('one that stands for too many is refused, naming it and the bound', () => {
    const task = parseTask({ objective: 'x', repo: '/r', scope: { protect: [BRACES] } });
    expect(task.ok || task.message).toBe(
      'scope.protect.paths[0] must have 64 alternatives in braces at most: {a,a}{a,a}{a,a}{a,a}{a,a}{a,a}{a,a}{a,a}{a,a}{a,a}{a,a}{a,a}… has 268435456',
    );
    const file = parseRepoFile(`protect: ['${BRACES}']`);
    expect(file.ok || file.message).toMatch(
      /^\.fleet\.yaml: protect\.paths\[0\] must have 64 alternatives in braces at most: \{a,a\}/,
    );
    const ranges = parseTask({ objective: 'x', repo: '/r', scope: { allow: ['{a,b}/{c,d,e}/**/*.{ts,tsx,js,jsx}'] } });
    expect(ranges.ok).toBe(true);
  });

  test('one that takes hours on a path ends within seconds, naming it', () => {
    const start = performance.now();
    const slow = () => matches(['docs', STARS])('a'.repeat(250));
    expect(slow).toThrow(GlobTooSlow);
    expect(slow).toThrow(
      /^the glob docs, \*a\*a\*a\*a\*a\*a\*a\*b takes seconds to match, at a{100}…: use fewer wildcards$/,
    );
    expect(performance.now() - start).toBeLessThan(60_000);
    // Nothing of it stays: the next one matches.
    expect(matches([STARS])('aaaaaaaab')).toBe(true);
    expect(matches([STARS])('xaaaaaaac')).toBe(false);
  });

  test('many paths that take long are ended together; those of a large repository are not', () => {
    const hostile = matches(['*a*a*a*b']);
    expect(() => Array.from({ length: 20_000 }, (_, i) => hostile(`${'a'.repeat(80)}${i}`))).toThrow(GlobTooSlow);
    const tests = matches(DEFAULT_RESTORE.flatMap(({ tests, config }) => [...tests, ...config]));
    const paths = Array.from(
      { length: 20_000 },
      (_, i) => `packages/name-${i % 50}/src/components/deep/er/file-${i}.component.tsx`,
    );
    expect(paths.filter(tests)).toEqual([]);
  });

  test('whether one glob lies within another is told in no more steps than they have pairs of parts', () => {
    const other = `${'**/a/'.repeat(8)}c`;
    expect(globsWithin([`${'a/'.repeat(110)}b?`], [other])).toEqual([`${'a/'.repeat(110)}b?`]);
    expect(globsWithin([`${'a/'.repeat(110)}*/c`], [`${'**/a/'.repeat(4)}*/c`])).toEqual([`${'a/'.repeat(110)}*/c`]);
  });
});
