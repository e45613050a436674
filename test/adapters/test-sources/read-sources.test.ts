import { describe, expect, test } from '@jest/globals';
import type { TestSource } from '../../../src/domain/evidence/test-source.ts';
import { isDeclared, readSources } from '../../../src/adapters/test-sources/index.ts';

const read = async (path: string, text: string) => (await readSources([{ path, text }]))[0]!;

describe('a source that is hostile or no source at all', () => {
  const test_a = 'def test_a(): assert f() == 1\n';

  test('is told beside the others, which are read', async () => {
    const files = {
      'a_test.py': test_a,
      'syntax.py': 'def test_a(:\n',
      'large.py': `${test_a}#${'x'.repeat(5_000_000)}`,
      'binary.py': String.fromCharCode(...Array.from({ length: 2_000 }, (_, byte) => byte % 256)),
      'README.md': '# Tests',
      'empty.py': '',
      'last_test.py': test_a,
    };
    const sources = await readSources(Object.entries(files).map(([path, text]) => ({ path, text })));
    expect(sources.map(({ path, unread, tests }) => `${path} ${unread ?? tests.length}`)).toEqual([
      'a_test.py 1',
      'syntax.py syntax',
      'large.py too-large',
      'binary.py syntax',
      'README.md 0',
      'empty.py 0',
      'last_test.py 1',
    ]);
  });

  test.each([
    ['a.py', `def test_a():\n    assert f() == ${'['.repeat(100_000)}${']'.repeat(100_000)}\n`],
    ['b.py', `def test_a():\n    x = ${'('.repeat(100_000)}\n`],
    [
      'c.py',
      Array.from({ length: 99 }, (_, depth) => `${' '.repeat(depth)}if x:\n`).join('') + ' '.repeat(99) + 'pass',
    ],
    ['d.test.js', `test('a', () => { expect(f()).toBe(${'['.repeat(100_000)}${']'.repeat(100_000)}) })`],
    ['e.test.js', `${'describe("a", () => {'.repeat(20_000)}${'})'.repeat(20_000)}`],
    ['f.test.js', `x${'.a()'.repeat(100_000)}`],
    ['g.test.ts', `const x: ${'Array<'.repeat(20_000)}string${'>'.repeat(20_000)} = 1;`],
    ['h.py', `x = ${'a + '.repeat(100_000)}a\ndef test_a():\n    assert ${'not '.repeat(10_000)}a\n`],
    ['i.py', `def test_a():\n    assert ${'a and '.repeat(50_000)}b\n`],
  ])('is read or given up where it is deeply nested: %s', async (path, text) => {
    const [source, after] = await readSources([
      { path, text },
      { path: 'z_test.py', text: test_a },
    ]);
    expect(source).toMatchObject({ path });
    expect(after?.tests).toHaveLength(1);
  });

  test('is not read once it is cancelled', async () => {
    const signal = AbortSignal.abort();
    const sources = await readSources([{ path: 'a_test.py', text: test_a }], { signal });
    expect(sources).toMatchObject([{ unread: 'too-slow', tests: [] }]);
  });

  test('is given up beyond 5,000 files', async () => {
    const files = Array.from({ length: 5_002 }, (_, n) => ({ path: `t${n}.py`, text: '' }));
    const sources = await readSources(files);
    expect(sources.filter(({ unread }) => unread === 'too-large').map(({ path }) => path)).toEqual([
      't5000.py',
      't5001.py',
    ]);
  });
});

test('names for what a turned source defines are others each time', async () => {
  const text = 'import os\ndef test_a(): assert f() == expected\n';
  expect((await read('a.py', text)).shared).not.toEqual((await read('a.py', text)).shared);
});

describe('a reported test is declared', () => {
  const source = (framework: string, ...names: (string | null)[][]): TestSource => ({
    ...{ path: 'tests/a', framework, shared: [] },
    tests: names.map((name) => ({ name, several: false, skipped: false, turns: [] })),
  });
  const declares = (from: TestSource, name: string, { several = false, file = 'tests/a' as string | undefined } = {}) =>
    isDeclared({ name, status: 'passed', ...(file === undefined ? {} : { file }) }, from, {
      ...from.tests[0]!,
      several,
    });

  test.each([
    ['pytest', ['test_a'], 'test_a'],
    ['pytest', ['test_a'], 'test_a[1-2]'],
    ['pytest', ['TestA', 'test_a'], 'TestA::test_a[x::y]'],
    ['pytest', [null, 'test_a'], 'TestB::test_a'],
    ['jest', ['suite', 'a > b'], 'suite > a > b'],
    ['jest', ['suite', 'a'], 'project > suite > a'],
    ['jest', ['suite', 'a'], 'suite > a (2)'],
    ['jest', ['a\nb'], 'a b'],
    ['jest', [null, 'a'], 'b > c > a'],
    ['jest', ['suite', null], 'suite > anything'],
  ])('in %s: %j is %s', (framework, name, reported) => {
    expect(declares(source(framework, name), reported)).toBe(true);
  });

  test.each([
    ['pytest', ['test_a'], 'test_ab'],
    ['pytest', ['test_a'], 'TestA::test_a'],
    ['jest', ['a'], 'suite > a > b'],
    ['jest', ['suite', 'a'], 'suite > b'],
    ['jest', ['suite', 'a'], 'suite > suite > a'],
    ['jest', ['adds %i'], 'adds 1'],
  ])('in %s: %j is not %s', (framework, name, reported) => {
    expect(declares(source(framework, name), reported)).toBe(false);
  });

  test('with what a runner fills in, and with subtests', () => {
    expect(declares(source('jest', ['adds %i and $b']), 'adds 1 and 2', { several: true })).toBe(true);
    expect(declares(source('jest', ['adds %i and $b']), 'adds 1', { several: true })).toBe(false);
    expect(declares(source('node:test', ['parent']), 'parent > child', { several: true })).toBe(true);
    expect(declares(source('pytest', ['test_a']), 'test_a_0_x', { several: true })).toBe(true);
  });

  test('in its own file, where the runner tells it', () => {
    expect(declares(source('jest', ['a']), 'a', { file: 'tests/b' })).toBe(false);
    expect(declares(source('jest', ['a']), 'a', { file: undefined })).toBe(true);
  });
});

test("a table in another file of a Go package's tests is known", async () => {
  const text =
    'package a\nfunc TestA(t *testing.T) {\n\tfor _, tc := range cases {\n\t\tif tc.x != f() { t.Fatal() }\n\t}\n}\n';
  const cases = { path: 'a/cases_test.go', text: 'package a\n\nvar cases = []struct{ x int }{\n\t{1},\n}\n' };
  const sure = async (files: { path: string; text: string }[]) =>
    (await readSources(files))[0]?.tests[0]?.turns.map((turn) => turn.sure);
  expect(await sure([{ path: 'a/a_test.go', text }, cases])).toEqual([true]);
  expect(await sure([{ path: 'b/a_test.go', text }, cases])).toEqual([false]);
});
