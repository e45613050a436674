import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { acceptance } from '../../../src/receipts/kinds/acceptance.ts';
import { whatFailed } from '../../../src/receipts/trial/failed-check.ts';
import type { TestReport } from '../../../src/domain/evidence/test-results.ts';
import { TrialLab } from '../trial-lab.ts';

/** What a rejection says of a real run of a real runner: it is what people read, and what the next run is told. */

const LONGEST = 2_600;
let lab: TrialLab;

beforeEach(() => {
  lab = new TrialLab();
});
afterEach(() => lab.remove());

async function saidOf(command: string, files: Record<string, string>): Promise<string> {
  const base = lab.commit({ 'README.md': 'a project\n' });
  const commit = lab.commit(files);
  const finding = await acceptance.collect(lab.evidence({ base, commit, policy: { verify: [command] } }));
  expect(finding?.ok).toBe(false);
  expect(finding!.summary.length).toBeLessThan(LONGEST);
  return finding!.summary;
}

const FAILING = [1, 2, 3, 4, 5];
const many = (test: (i: number) => string) => Array.from({ length: 60 }, (_, i) => test(i)).join('\n');

const nodeTest = `
  import assert from 'node:assert';
  import { describe, test } from 'node:test';
  describe('sums', () => { test('adds', () => assert.equal({ sum: 3 }.sum, 4, 'a message of its own')); });
  ${many((i) => `test('fine ${i}', () => {});`)}
`;

test.each([
  ['TAP', 'node --test'],
  ['spec', 'node --test --test-reporter=spec'],
])('node:test, %s: the failed test by name, with expected, actual and place', async (_, command) => {
  const said = await saidOf(command, { 'a.test.mjs': nodeTest });
  expect(said).toMatch(/^`node [^`]+` failed with exit code 1 \(1 test failed\):\n✗ sums > adds \(a\.test\.mjs\)\n/);
  expect(said).toMatch(/\n {2}a message of its own\n {2}expected: 4\n {2}actual: 3\n {2}at .*a\.test\.mjs:4:/);
});

test('node:test: a file that cannot be loaded names the module', async () => {
  const said = await saidOf('node --test', { 'a.test.mjs': nodeTest, 'b.test.mjs': "import './nope.mjs';" });
  expect(said).toMatch(/✗ b\.test\.mjs\n[^]*Cannot find module 'nope\.mjs' imported from b\.test\.mjs/);
  expect(said).toMatch(/✗ sums > adds \(a\.test\.mjs\)\n {2}a message of its own/);
});

test('jest: failed tests and a file that cannot be loaded', async () => {
  const files = {
    'package.json': '{"name":"a","jest":{"transform":{},"testMatch":["**/*.test.js"]}}',
    'a.test.js': `describe('sums', () => { test('adds', () => expect(3).toBe(4)); }); ${many((i) => `test('fine ${i}', () => {});`)}`,
    'b.test.js': "require('./nope.js');",
  };
  const jest = join(import.meta.dirname, '../../../node_modules/jest/bin/jest.js');
  const said = await saidOf(`node ${jest}`, files);
  expect(said).toMatch(/✗ sums > adds \(a\.test\.js\)\n[^]*Expected: 4\n {2}Received: 3\n[^]*a\.test\.js:1:/);
  expect(said).toMatch(/✗ b\.test\.js\n[^]*Cannot find module '\.\/nope\.js' from 'b\.test\.js'/);
});

test('pytest: failed tests with their values, and a module that is missing', async () => {
  const files = {
    'test_a.py': `def add(a, b):\n    return a - b\n\ndef test_adds():\n    assert add(1, 2) == 3\n\n${many((i) => `def test_fine_${i}():\n    pass\n`)}`,
    'test_b.py': 'import no_such_module\n',
  };
  const said = await saidOf('python3 -m pytest --continue-on-collection-errors', files);
  expect(said).toMatch(
    /✗ test_adds \(test_a\.py\)\n {2}assert -1 == 3\n {2} \+ {2}where -1 = add\(1, 2\)\n {2}at test_a\.py:5/,
  );
  expect(said).toMatch(/✗ test_b\.py\n[^]*ModuleNotFoundError: No module named 'no_such_module'/);
});

test('unittest: the first failure, whole', async () => {
  const said = await saidOf('python3 -m unittest -v', {
    'test_a.py': `import unittest\nclass Sums(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(3, 4)\n${FAILING.map((i) => `    def test_z${i}(self):\n        self.assertEqual('${'a'.repeat(80)}', '${'b'.repeat(80)}')\n`).join('')}${many((i) => `    def test_fine_${i}_${'x'.repeat(40)}(self):\n        pass`)}\n`,
  });
  expect(said).toMatch(/\n✗ Sums::test_adds \(test_a\.py\)\n {2}AssertionError: 3 != 4\n {2}at test_a\.py:4\n/);
  expect(said).toMatch(/\nand 1 more$/);
});

const go = { 'go.mod': 'module g\n\ngo 1.21\n', 'a.go': 'package g\n\nfunc Add(a, b int) int { return a - b }\n' };
const goEnv = `GOCACHE=${join(homedir(), '.cache/go-build')} GOFLAGS=-mod=mod`;

test('go test: the failed test with what it said', async () => {
  const said = await saidOf(`${goEnv} go test ./...`, {
    ...go,
    'a_test.go': `package g\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tt.Run("sub", func(t *testing.T) {\n\t\tif got := Add(1, 2); got != 3 {\n\t\t\tt.Errorf("Add(1, 2) = %d, want 3", got)\n\t\t}\n\t})\n}\n`,
  });
  expect(said).toMatch(/✗ g > TestAdd\/sub\n {2}.*a_test\.go:8: Add\(1, 2\) = -1, want 3/);
});

test('go test: what cannot be built', async () => {
  const said = await saidOf(`${goEnv} go test ./...`, {
    ...go,
    'a_test.go': 'package g\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) { undefinedThing() }\n',
  });
  expect(said).toMatch(/✗ g\n[^]*a_test\.go:5:\d+: undefined: undefinedThing/);
});

const cargo = `CARGO_HOME=${process.env['CARGO_HOME'] ?? join(homedir(), '.cargo')} RUSTUP_HOME=${process.env['RUSTUP_HOME'] ?? join(homedir(), '.rustup')} cargo test --offline`;
const crate = (test: string) => ({
  'Cargo.toml': '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
  'src/lib.rs': `pub fn add(a: i32, b: i32) -> i32 { a - b }\n#[cfg(test)]\nmod tests {\n${test}\n${many((i) => `#[test] fn fine_${i}() {}`)}\n}\n`,
});

test('cargo test: the failed test by name, with left and right', async () => {
  const more = FAILING.map((i) => `#[test] fn z${i}() { assert_eq!("${'a'.repeat(80)}", "${'b'.repeat(80)}"); }`);
  const said = await saidOf(cargo, crate(`#[test] fn adds() { assert_eq!(super::add(1, 2), 3); } ${more.join(' ')}`));
  expect(said).toContain('(6 tests failed: a > tests::adds, a > tests::z1, ');
  expect(said).toMatch(/panicked at src\/lib\.rs:4:[^]*left: -1\n\s*right: 3/);
});

test('cargo test: the first error of the compiler', async () => {
  const said = await saidOf(
    cargo,
    crate(
      `#[test] fn adds() { undefined_thing(); } ${FAILING.map((i) => `#[test] fn z${i}() { missing_${i}(); }`).join(' ')}`,
    ),
  );
  expect(said).toMatch(/\nerror\[E0425\]: cannot find function `undefined_thing`[^]*--> src\/lib\.rs:4:/);
});

test('tsc: its first error is told, however many follow', async () => {
  symlinkSync(join(import.meta.dirname, '../../../node_modules'), lab.at('node_modules'));
  const said = await saidOf(
    `node ${join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc')} --noEmit a.ts`,
    {
      'a.ts': `const first: number = 'text';\n${many((i) => `const a${i}: number = '${'x'.repeat(60)}';`)}\n`,
    },
  );
  expect(said).toMatch(/:\na\.ts\(1,7\): error TS2322: Type 'string' is not assignable to type 'number'\./);
});

test('failed tests stand by file, however a runner ended them', () => {
  const result = { exitCode: 1, signal: null, timedOut: false, durationMs: 1, notFound: [], said: '' };
  const failed = (name: string, file: string) => ({ name, file, status: 'failed' as const });
  const why = (tests: TestReport['tests']) =>
    whatFailed({ command: 'npx jest', setup: false, result }, { limitMs: 1, report: { runners: ['jest'], tests } });
  const [a2, a1, b] = [failed('z', 'a.test.js'), failed('y', 'a.test.js'), failed('x', 'b.test.js')];
  expect(why([b, a2, a1])).toBe('`npx jest` failed with exit code 1 (3 tests failed: z, y, x)');
  expect(why([a2, a1, b])).toBe(why([b, a2, a1]));
});

test('npm: what it misses', async () => {
  expect(await saidOf('npm test', { 'package.json': '{"name":"a"}' })).toContain('Missing script: "test"');
});

test('a shell script that only exits says how it ended, and nothing else', async () => {
  expect(await saidOf('sh test.sh', { 'test.sh': 'exit 1\n' })).toBe('`sh test.sh` failed with exit code 1');
});

test('what a test says is told only so far', async () => {
  const failing = many((i) => `test('fails ${i}', () => { throw new Error('why ${'x'.repeat(3_000)}'); });`);
  const said = await saidOf('node --test', { 'a.test.mjs': `import { test } from 'node:test';\n${failing}` });
  expect(said).toMatch(/\(60 tests failed\):\n✗ fails 0 [^]*✗ fails 4 [^]*\nand 55 more$/);
});

test.each([
  ['npm error code EAI_AGAIN', true],
  ['dial tcp: lookup proxy.example: no such host', true],
  ['expected 3, got 4', false],
])('a command without a network that says %j: told of it %j', (said, told) => {
  const result = { exitCode: 1, signal: null, timedOut: false, durationMs: 1, notFound: [], said };
  const step = { command: 'npm ci && npm test', setup: false, result };
  const why = (offlineBy?: string) =>
    whatFailed({ ...step, result: { ...result, ...(offlineBy ? { offlineBy } : {}) } }, { limitMs: 1, report: null });
  expect(why('network.checks of the worker').includes('it had no network, by network.checks of the worker;')).toBe(
    told,
  );
  expect(why()).not.toContain('no network');
});
