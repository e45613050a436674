import { describe, expect, test } from '@jest/globals';
import { parseFile } from '../../../src/adapters/test-sources/parse.ts';
import { turnTests } from '../../../src/adapters/test-sources/index.ts';
import { watchedRun } from '../../receipts/watched-run.ts';
import { readText } from './read.ts';

/** Of each language: what stands before the tests, one assertion a line, and how one line becomes a test. */
const LANGUAGES = [
  {
    path: 'a.test.mjs',
    command: 'node --test',
    head: `import assert from 'node:assert/strict';
import { test } from 'node:test';
const { throws, notEqual } = assert;
const four = 4;
const double = (n) => { if (n < 0) throw new RangeError('is below nothing'); return 2 * n; };
`,
    test: (line: string, at: number) => `test('t${at}', () => { ${line} });`,
    literals: [
      'assert.equal(double(2), 4);',
      'assert.equal(-4, double(-0) - 4);',
      'assert.deepEqual([double(2), { a: double(1) }], [4, { a: 2 }]);',
      'assert.deepEqual([four], [four]);',
      'assert.deepEqual([], []);',
      'assert.deepEqual({ ...[] }, {});',
      'assert.deepEqual(new Map([[double(1), 1]]), new Map([[2, 1]]));',
      'assert.deepEqual(undefined, double.nothing);',
      "assert.equal(String(double(2)) + 'b', '4b');",
      "assert.equal('\\n' + double(2), '\\n4');",
      'assert.equal(`${double(2)} b`, `${four} b`);',
      "assert.equal(`${double(1)} ${double(2)}`, [2, 4].join(' '));",
      'const expected = new Set([2]); assert.deepEqual(new Set([double(1)]), expected);',
      'assert.throws(() => double(-1), RangeError);',
      "assert.throws(() => double(-1), { message: 'is below nothing' });",
      'assert.throws(() => double(-1), /below nothing/);',
      'assert.throws(() => double(-1));',
      'assert(double(2) === 4 && true);',
      'assert(double(2) < 5);',
      'assert(!(double(2) > 5));',
      'assert.notEqual(double(2), 5);',
      'assert.doesNotThrow(() => double(2));',
      'assert.match(String(double(2)), /4/);',
    ],
    others: [
      'assert.equal(double(2), four);',
      'notEqual(double(2), 5);',
      'throws(() => double(-1), (error) => error instanceof RangeError);',
    ],
  },
  {
    path: 'test_a.py',
    command: 'python3 -m pytest -q',
    head: `import unittest
import pytest
from decimal import Decimal
class Other(Exception): pass
four = 4
def double(n):
    if n < 0: raise ValueError('is below nothing')
    return 2 * n
def fails(): raise Other()
class TestA(unittest.TestCase):
`,
    test: (line: string, at: number) => `    def test_${at}(self): ${line}`,
    literals: [
      'self.assertEqual(double(2), 4)',
      'self.assertEqual(-4, double(0) - 4)',
      'assert [double(2), {"a": double(1)}] == [4, {"a": 2}]',
      'assert [four] == [four]',
      'self.assertEqual([], [])',
      'self.assertEqual(dict(), {})',
      'self.assertEqual((), ())',
      'self.assertEqual({double(1), 3}, {2, 3})',
      'self.assertEqual(set([double(1), 3]), set([2, 3]))',
      'self.assertEqual(print(), None)',
      `self.assertEqual("\\n%s" % double(2), "\\n4")`,
      'self.assertEqual(f"{double(2)} b", f"{four} b")',
      `self.assertEqual("2\\n4", "\\n".join(["2", "4"]))`,
      'self.assertEqual("ab4", ("a" "b") + str(double(2)))',
      'expected = [2]; self.assertEqual([double(1)], expected)',
      'self.assertEqual(Decimal(double(2)), Decimal("4.0"))',
      'self.assertAlmostEqual(double(2) + 1e-9, 4)',
      'assert double(2) + 1e-9 == pytest.approx(4)',
      'self.assertRaises(ValueError, double, -1)',
      'self.assertRaises(Other, fails)',
      'assert double(2) < 5 and four',
      'assert not double(2) > 5',
      'assert double(2) in (4, 5)',
      'self.assertGreater(double(2), 3)',
      'self.assertNotEqual(double(2), 3)',
    ],
    others: [
      'self.assertEqual(double(2), four)',
      'self.assertAlmostEqual(double(2) + 1e-9, 4, places=2)',
      'assert double(2) == pytest.approx(4, abs=50)',
    ],
  },
];
/** A name that the turned source defines. */
const HELPER = /\bh[\da-f]{16}\b/;

describe.each(LANGUAGES)('$path', ({ path, command, head, test: testOf, literals, others }) => {
  const all = [...literals, ...others];
  const lines = all.map(testOf);
  const text = `${head}${lines.join('\n')}\n`;
  const first = head.split('\n').length - 1;
  const turned = async (chosen: 'all' | 'none') => {
    const source = await parseFile({ path, text });
    const now = turnTests(text, source, new Set(chosen === 'all' ? source.tests : []));
    return { text: now, lines: now.split('\n').slice(first, first + all.length) };
  };

  test('each is turned wrong, or means what it did and is another text', async () => {
    for (const [chosen, status] of [
      ['all', 'failed'],
      ['none', 'passed'],
    ] as const) {
      const now = await turned(chosen);
      expect(now.lines.filter((line) => lines.includes(line))).toEqual([]);
      const { tests } = await watchedRun(command, { [path]: now.text });
      expect(tests).toHaveLength(all.length);
      expect(tests?.filter((line) => !line.startsWith(status))).toEqual([]);
    }
  });

  test('literals stay literals, and what is no literal looks the same whether it is turned or not', async () => {
    const [wrong, right] = [await turned('all'), await turned('none')];
    expect(wrong.lines.slice(0, literals.length).filter((line) => HELPER.test(line))).toEqual([]);
    const shape = (line: string) =>
      line
        .replace(HELPER, 'H')
        .replace(/, \d{5}\)/, ', N)')
        .replace(/void '\w+'|\w+=None/, 'mark');
    const shapes = wrong.lines.slice(literals.length).map(shape);
    expect(shapes).toEqual(right.lines.slice(literals.length).map(shape));
    expect(shapes.every((line) => line.includes(', N)'))).toBe(true);
  });
});

test('a text that is read as a number is not given one that means the same', async () => {
  const lines = [
    'from decimal import Decimal',
    'def test_read(): assert half(8) == Decimal("4.0")',
    'def test_text(): assert str(half(8)) in ["4", "4.00"]',
  ];
  const read: string[] = [];
  for (let n = 0; n < 100; n += 1) {
    const { turned } = await readText('test_a.py', `${lines.join('\n')}\n`);
    read.push(/half\(8\) == Decimal\("([^"]*)"\)/.exec(turned)?.[1] ?? '');
  }
  expect(read.filter((text) => Number(text) === 4)).toEqual([]);
});
