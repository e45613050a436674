import { expect, test } from '@jest/globals';
import { watchedRun } from '../../receipts/watched-run.ts';
import { readText } from './read.ts';

/** Assertions in functions of the same file that tests call. */

/** Turned, every test with a sure turn fails and no other; as they are, all pass. */
async function holds(path: string, text: string, { command, ...files }: Record<string, string>): Promise<string[]> {
  const { lines, turned } = await readText(path, text);
  const before = await watchedRun(command!, { ...files, [path]: text });
  expect([before.exitCode, before.output]).toEqual([0, expect.any(String)]);
  const after = await watchedRun(command!, { ...files, [path]: turned });
  const failed = after.report!.tests.filter(({ status }) => status === 'failed');
  const leaf = (name: string) => name.split(/ > |::/).at(-1)!;
  const sure = lines.filter((line) => line.endsWith('S')).map((line) => leaf(line.split(' | ')[0]!));
  expect(failed.map(({ name }) => leaf(name)).toSorted()).toEqual(sure.toSorted());
  return lines;
}

const PYTHON = `import unittest

def double(n): return 2 * n

def check(n, expected, message=''):
    got = double(n)
    assert got == expected, message

def same(n, expected):
    assert double(expected - n) == expected

def maybe(n, expected):
    if n > 1:
        assert double(n) == expected

def later(n, expected):
    if n > 1: return
    assert double(n) == expected

def test_positional(): check(2, 4)
def test_named(): check(n=2, expected=4)
def test_list(): check([1], [1, 1])
def test_computed(): check(2, int('4'))
def test_both(): same(2, 4)
def test_maybe(): maybe(2, 4)
def test_later(): later(1, 2)
def test_looped():
    for n in [1, 1]: check(n, 2)

def taken(n, expected): assert double(n) == expected
def test_taken():
    taken = lambda n, expected: None
    taken(2, 5)

class TestOwn(unittest.TestCase):
    def check(self, n, expected): self.assertEqual(double(n), expected)
    def assertDouble(self, n, want): self.assertEqual(want, double(n))
    def test_method(self): self.check(2, 4)
    def test_assertion(self): self.assertDouble(2, 'aa'.count('a') * 2)
    def test_text(self): self.assertDouble('a', 'aa')
`;

test('Python: a literal that is given to what a helper compares', async () => {
  expect(await holds('test_a.py', PYTHON, { command: 'python3 -m pytest -q' })).toEqual([
    'test_positional | S',
    'test_named | S',
    'test_list | S',
    'test_computed | ',
    'test_both | ',
    'test_maybe | ',
    'test_later | ',
    'test_looped | S',
    'test_taken | ',
    'TestOwn > test_method | S',
    'TestOwn > test_assertion | ',
    'TestOwn > test_text | S',
  ]);
});

const NODE = `import assert from 'node:assert';
import { test } from 'node:test';
const double = (n) => (Array.isArray(n) ? [...n, ...n] : 2 * n);
function check(n, expected) { assert.equal(double(n), expected, 'why'); }
const list = (n, expected = []) => assert.deepEqual(double(n), expected);
const same = (n, expected) => assert.equal(double(expected - n), expected);
const maybe = (n, expected) => { if (n > 1) assert.equal(double(n), expected); };
const early = (n, expected) => { if (n > 1) return; assert.equal(double(n), expected); };
const later = async (n, expected) => { await null; assert.equal(double(n), expected); };
test('function', () => { check(2, 4); });
test('arrow', () => list([1], [1, 1]));
test('computed', () => check(2, Number('4')));
test('both', () => same(2, 4));
test('maybe', () => maybe(2, 4));
test('early', () => early(1, 2));
test('later', async () => later(1, 2));
const taken = (n, expected) => assert.equal(double(n), expected);
test('shadowed', () => { const taken = () => {}; taken(1, 5); });
`;

test('node:test: a literal that is given to what a helper compares', async () => {
  expect(await holds('a.test.mjs', NODE, { command: 'node --test' })).toEqual([
    'function | S',
    'arrow | S',
    'computed | ',
    'both | ',
    'maybe | ',
    'early | ',
    'later | ',
    'shadowed | ',
  ]);
});

const GO = `package calc

import "testing"

func assertNumber(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}
func assertText(t testing.TB, want string, got string) {
	if want != got {
		t.Fatalf("%q", want)
	}
}
func assertDouble(t *testing.T, n int) {
	if n+n != n {
		t.Log(n)
	}
}
func assertLate(t *testing.T, got, want int) {
	if got > 1 {
		return
	}
	if got != want {
		t.Fail()
	}
}
func TestNumber(t *testing.T) { assertNumber(t, 1+1, 2) }
func TestBelow(t *testing.T)  { assertNumber(t, 1-3, -2) }
func TestText(t *testing.T)   { assertText(t, "ab", "a"+"b") }
func TestDouble(t *testing.T) { assertDouble(t, 2) }
func TestLate(t *testing.T)   { assertLate(t, 2, 3) }
func TestParts(t *testing.T) {
	for _, n := range []int{1, 1} {
		t.Run("part", func(t *testing.T) { assertNumber(t, n, 1) })
	}
}
`;

test('go: a literal that is given to what a helper compares', async () => {
  const { lines, turned } = await readText('calc_test.go', GO);
  expect(lines).toEqual([
    'TestNumber | S',
    'TestBelow | S',
    'TestText | S',
    'TestDouble | ',
    'TestLate | ',
    'TestParts | several | S',
  ]);
  const files = { 'go.mod': 'module calc\n\ngo 1.18\n', 'calc_test.go': turned };
  const { report } = await watchedRun('go test ./...', files);
  const failed = report!.tests.filter(({ status }) => status === 'failed').map(({ name }) => name);
  expect(failed.filter((name) => !name.includes('/')).toSorted()).toEqual(
    ['Below', 'Number', 'Parts', 'Text'].map((name) => `calc > Test${name}`),
  );
}, 120_000);

test('jest, vitest and chai: a literal that is given to what a helper compares', async () => {
  const text = `const check = (n: number, expected: number): void => { expect(double(n)).toBe(expected); };
const not = (n, expected) => expect(double(n)).not.toBe(expected);
const chai = (n, expected) => expect(double(n)).to.equal(expected);
test('a', () => { check(2, 4); });
test('b', () => { not(2, 4); });
test('c', () => { chai(2, 4); });
`;
  expect((await readText('a.test.ts', text)).lines).toEqual(['a | S', 'b | ', 'c | S']);
});
