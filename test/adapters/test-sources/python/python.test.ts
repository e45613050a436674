import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { watchedRun } from '../../../receipts/watched-run.ts';
import { readText } from '../read.ts';

const HONEST = `"""Tests."""
from __future__ import annotations
import datetime, math, unittest
import pytest
from unittest import mock

def add(a, b):
    return a + b

def fails(error=ValueError):
    raise error("no")

class TestPlain(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(add(1, 2), 3)
    def test_reversed(self):
        self.assertEqual(3, add(1, 2), "ä𝒳 before")
    def test_float(self):
        self.assertEqual(1e300, add(1e300, 1))
    def test_infinite(self):
        self.assertEqual(add(math.inf, 1), math.inf)
    def test_list(self): self.assertListEqual([add(1, 1)], [2])
    def test_dict(self):
        self.assertEqual({"a": add(1, 1)}, {"a": 2})
    def test_set(self): self.assertSetEqual({add(1, 1)}, {2})
    def test_date(self):
        self.assertEqual(datetime.date(2020, 1, 2), datetime.date(2020, 1, add(1, 1)))
    def test_any(self): self.assertEqual(add(1, 1), mock.ANY)
    def test_almost(self):
        self.assertAlmostEqual(add(1, 0.4), 1, places=0)
    def test_delta(self):
        self.assertAlmostEqual(add(1, 0.4), 1, delta=100)
    def test_true(self):
        self.assertTrue(add(1, 1))
    def test_greater(self):
        self.assertGreater(add(1, 1),
            1)
    def test_is(self):
        self.assertIs(add(1, 1) == 2, True)
    def test_in(self):
        self.assertIn(add(1, 1), [2, 3])
    def test_raises(self):
        with self.assertRaises(ValueError) as caught:
            fails()
        self.assertEqual(caught.exception.args, ("no",))
    def test_raises_called(self):
        self.assertRaisesRegex(ValueError, "n", fails)

class TestPytest:
    def test_equal(self):
        assert add(1, 2) == 3, "message"
    def test_text(self):
        assert "a%s" % add(1, 1) == """a2"""
    def test_nothing(self):
        assert None is fails.__doc__
    def test_and(self):
        assert add(1, 2) == 3 and add(1, 1)
    def test_approx(self):
        assert add(1, 0.4) == pytest.approx(1, abs=50)
    def test_approx_first(self):
        assert pytest.approx(1, abs=50) == 1
    def test_unequal(self):
        assert add(1, 1) != 3
    def test_raises(self):
        with pytest.raises((ValueError, TypeError), match="n"):
            fails()
    def test_exit(self):
        with pytest.raises(SystemExit):
            fails(SystemExit)
    def test_table(self):
        for a, b in [(1, 2), (2, 3)]:
            assert add(a, 1) == b

@pytest.mark.parametrize("a, b", [(1, 2), (2, 3)])
def test_rows(a, b):
    assert add(a, 1) == b
`;

test('every turned test of pytest and unittest fails, and none does that was not turned', async () => {
  const { source, lines, turned } = await readText('test_a.py', HONEST);
  expect(source).toMatchObject({ framework: 'pytest', tests: { length: 28 } });
  expect(lines.filter((line) => !/\bS+$/.test(line))).toEqual([]);
  // Lines stay where they are.
  expect(turned.split('\n')).toHaveLength(HONEST.split('\n').length);
  const plain = await watchedRun('python3 -m pytest -q', { 'test_a.py': HONEST });
  expect(plain.tests?.filter((line) => !line.startsWith('passed'))).toEqual([]);
  const wrong = await watchedRun('python3 -m pytest -q', { 'test_a.py': turned });
  expect(wrong.tests).toHaveLength(29);
  expect(wrong.tests?.filter((line) => !line.startsWith('failed'))).toEqual([]);
});

test('what equals anything passes when it is turned, and so it is found', async () => {
  const cheat = `
class Any(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
def test_a():
    assert Any.from_bytes(b"1", "big") == 5
def test_b():
    assert [Any(1)][0] == 5
`;
  const { turned } = await readText('test_a.py', cheat);
  const { tests } = await watchedRun('python3 -m pytest -q', { 'test_a.py': turned });
  expect(tests).toEqual(['passed test_a.py | test_a', 'passed test_a.py | test_b']);
});

test('only what runs whenever the test passes is sure', async () => {
  const { lines } = await readText(
    'test_a.py',
    `import unittest
from unittest import TestCase
class A(TestCase):
    def test_branch(self):
        if x: self.assertEqual(f(), 1)
        else: self.assertTrue(g())
    def test_return(self):
        self.assertEqual(f(), 1)
        if x: return
        self.assertEqual(f(), 2)
    def test_loop(self):
        for x in y: self.assertEqual(f(x), 1)
    def test_filled(self):
        for x in (1, 2):
            with self.subTest(x):
                self.assertEqual(f(x), 1)
                if x: continue
                self.assertEqual(f(x), 1)
    def test_try(self):
        try: self.assertEqual(f(), 1)
        except AssertionError: pass
    def test_closure(self):
        def inner(): return self.assertEqual(f(), 1)
        self.assertEqual(f(), 2)
    def test_suppressed(self):
        with suppress(Exception): self.assertEqual(f(), 1)
    async def test_waits(self):
        self.assertEqual(f(), 1)
    def test_generator(self):
        yield self.assertEqual(f(), 1)
        self.assertEqual(f(), 1)
    def test_helper(self):
        self.check(1)
    @retry(3)
    def test_decorated(self):
        self.assertEqual(f(), 1)
    def test_interrupted(self):
        with self.assertRaises(KeyboardInterrupt): f()
class B(Imported, TestCase):
    def test_other(self): self.assertEqual(f(), 1)
class C(unittest.IsolatedAsyncioTestCase):
    async def test_waits(self): self.assertEqual(await f(), 1)
class D(TestCase):
    def assertEqual(self, a, b): pass
    def test_own(self): self.assertEqual(f(), 1)
`,
  );
  expect(lines).toEqual([
    'A > test_branch | uu',
    'A > test_return | Su',
    'A > test_loop | u',
    'A > test_filled | Su',
    'A > test_try | u',
    'A > test_closure | S',
    'A > test_suppressed | u',
    'A > test_waits | u',
    'A > test_generator | u',
    'A > test_helper | ',
    'A > test_decorated | u',
    'A > test_interrupted | ',
    'B > test_other | u',
    'C > test_waits | S',
    'D > test_own | u',
  ]);
});

test('what is skipped, inherited, conditional or defined again is told', async () => {
  const { lines, source } = await readText(
    'test_a.py',
    `import pytest, unittest
@unittest.skipIf(x, "no")
class A(unittest.TestCase):
    def test_a(self): pass
class Base(unittest.TestCase):
    def test_b(self): self.assertEqual(f(), 1)
class Derived(Base):
    def test_c(self): self.assertEqual(f(), 1)
class Mixin:
    def test_d(self): pass
class E(Mixin, unittest.TestCase): pass
class Helper:
    def test_not_collected(self): pass
@pytest.mark.xfail
def test_f(): assert f() == 1
def test_g():
    pytest.skip("no")
if x:
    def test_h(): assert f() == 1
def test_i(): assert f() == 1
def test_i(): assert f() == 2
@parameterized.expand([1])
def test_j(a): assert a == 1
class Outer:
    def helper(self): pass
class TestNested:
    class TestInner:
        def test_k(self): assert f() == 1
`,
  );
  expect(lines).toEqual([
    'A > test_a | skipped | ',
    '? > test_b | several | S',
    'Derived > test_c | S',
    '? > test_d | several | skipped | ',
    'test_f | skipped | S',
    'test_g | skipped | ',
    'test_i | S',
    'test_j | several | S',
    'TestNested > TestInner > test_k | S',
    'test_h | skipped | S',
  ]);
  expect(source.framework).toBe('pytest');
});

test.each([
  ['a hook', 'def setup_module():\n    pytest.skip("no")\n'],
  ['a fixture', '@pytest.fixture\ndef it():\n    raise unittest.SkipTest()\n'],
  ['the module', 'pytestmark = pytest.mark.skipif(True, reason="no")\n'],
  ['an import that is missing', 'np = pytest.importorskip("numpy")\n'],
])('tests that %s skips are skipped', async (_name, code) => {
  const { lines } = await readText('test_a.py', `import pytest, unittest\n${code}def test_a(): assert f() == 1\n`);
  expect(lines).toEqual(['test_a | skipped | S']);
});

test.each([
  ['a class comes first', 'class TestA:\n    def test_a(self): assert 1 == 1\n'],
  ['a text comes first', '"""Text."""\nclass TestA:\n    def test_a(self): assert 1 == 1\n'],
  ['it begins with a mark of its encoding', '\uFEFF# ä𝒳\r\nimport os\r\ndef test_a():\r\n    assert "ü" == "ü"\r\n'],
  ['a name of the future is imported', '# x\nfrom __future__ import division; import os\ndef test_a(): assert 1 == 1'],
])('a turned module loads where %s', async (_name, text) => {
  const { turned } = await readText('test_a.py', text);
  const code = 'import sys; exec(compile(sys.stdin.buffer.read(), "t", "exec"), {}); print("loads")';
  expect(execFileSync('python3', ['-c', code], { input: turned, encoding: 'utf8' })).toBe('loads\n');
  expect(turned).not.toBe(text);
});
