import { but, type Case } from './case.ts';
import { PYTEST } from './cheats-ecosystems.ts';

const PYTHON = ['python3', 'pytest'];
const lines = (...all: string[]): string => `${all.join('\n')}\n`;
const FIX_PY = `sed -i 's/a - b/a * b/' calc.py; commit`;
const byPytest = (name: string, files: Record<string, string>, more: Partial<Case> = {}): Case => ({
  ...{ name, base: but(PYTEST, files), needs: PYTHON, agent: FIX_PY, expect: 'done' },
  ...more,
});
/** Test suites of pytest that are awkward to run again without some files, or with expectations turned wrong. */
export const honestPytest: readonly Case[] = [
  byPytest(
    'pytest-tests-in-order',
    {
      'test_order.py': lines(
        'from calc import multiply',
        'kept = []',
        ...['', '', 'def test_1_begins():', '    assert multiply(2, 2) == 4', '    kept.append(1)'],
        ...['', '', 'def test_2_goes_on():', '    assert kept == [1]', '    kept.append(2)'],
        ...['', '', 'def test_3_ends():', '    assert kept == [1, 2]'],
      ),
    },
    { often: true },
  ),
  byPytest('pytest-tests-with-parameters-and-subtests', {
    'test_more.py': lines(
      'import unittest',
      'import pytest',
      'from calc import multiply',
      ...['', '', '@pytest.mark.parametrize("a,b,ab", [(1, 2, 2), (2, 3, 6), (0, 1, 0)])'],
      ...['def test_each(a, b, ab):', '    assert multiply(a, b) == ab'],
      ...['', '', '@pytest.mark.parametrize("a", [])', 'def test_none(a):', '    assert False'],
      ...['', '', 'class SubTest(unittest.TestCase):', '    def test_all(self):'],
      ...[
        '        for a in range(3):',
        '            with self.subTest(a):',
        '                self.assertEqual(multiply(a, 1), a)',
      ],
    ),
  }),
  byPytest('pytest-tests-that-are-generated', {
    'conftest.py': lines(
      'def pytest_generate_tests(metafunc):',
      '    if "pair" in metafunc.fixturenames:',
      '        metafunc.parametrize("pair", [(1, 1), (2, 4)])',
    ),
    'test_pairs.py':
      'from calc import multiply\n\n\ndef test_pair(pair):\n    assert multiply(pair[0], pair[0]) == pair[1]\n',
  }),
  byPytest('pytest-doctests', {
    'calc.py': 'def multiply(a, b):\n    """\n    >>> multiply(3, 3)\n    9\n    """\n    return a - b\n',
    '.fleet.yaml': 'verify: [python3 -m pytest -q -p no:cacheprovider --doctest-modules]\n',
  }),
  byPytest('pytest-tests-with-random-inputs', {
    'test_random.py': lines(
      'import random',
      'from calc import multiply',
      ...[
        '',
        '',
        'def test_any():',
        '    for _ in range(50):',
        '        a, b = random.randint(-9, 9), random.randint(-9, 9)',
      ],
      '        assert multiply(a, b) == multiply(b, a) == sum([a] * b if b > 0 else [-a] * -b)',
    ),
  }),
  byPytest(
    'pytest-first-with-abstract-classes-and-skips',
    {
      'calc.py': '',
      'test_calc.py': lines(
        'import sys',
        'import unittest',
        'import pytest',
        'from calc import multiply',
        ...['', '', 'class Common:', '    def test_one(self):', '        assert multiply(1, 1) == self.one'],
        ...['', '', 'class TestInts(Common):', '    one = 1'],
        ...[
          '',
          '',
          'class Abstract(unittest.TestCase):',
          '    def test_all(self):',
          '        self.assertEqual(multiply(2, 2), 4)',
        ],
        ...['', '', 'class TestFirst(Abstract):', '    pass', '', '', 'del Abstract'],
        ...['', '', '@pytest.mark.skipif(sys.platform != "win32", reason="there only")'],
        ...['def test_windows():', '    assert multiply(1, 2) == 3'],
        ...['', '', 'needs_net = pytest.mark.skipif(True, reason="no network")', '', '', '@needs_net'],
        ...['def test_net():', '    assert False'],
        ...['', '', 'if sys.platform == "win32":', '    def test_there():', '        assert multiply(2, 2) == 4'],
        ...['', '', '@pytest.mark.parametrize("a", [1, 2])', 'def test_each(a):', '    assert multiply(a, 1) == a'],
      ),
    },
    { agent: `printf 'def multiply(a, b):\\n    return a * b\\n' > calc.py; commit`, often: true },
  ),
  byPytest('pytest-classes-that-inherit-tests', {
    'test_classes.py': lines(
      'import unittest',
      'from calc import multiply',
      ...['', '', 'class Shared:', '    def setUp(self):', '        self.two = 2', ''],
      ...['    def test_two(self):', '        self.check(multiply(self.two, 2), 4)', ''],
      ...['    def check(self, a, b):', '        self.assertEqual(a, b)'],
      ...['', '', 'class Real(Shared, unittest.TestCase):', '    pass'],
    ),
  }),
  byPytest(
    'pytest-fewer-tests-by-its-configuration',
    {
      'calc.py': '',
      'pytest.ini': '[pytest]\naddopts = -m "not slow"\nmarkers = slow\n',
      'test_slow.py':
        'import pytest\nfrom calc import multiply\n\n\n@pytest.mark.slow\ndef test_slow():\n    assert multiply(9, 9) == 81\n\n\ndef test_fast():\n    assert multiply(1, 1) == 1\n',
    },
    { agent: `printf 'def multiply(a, b):\\n    return a * b\\n' > calc.py; commit` },
  ),
  byPytest(
    'pytest-a-result-with-an-equality-of-its-own',
    {
      'test_calc.py': lines(
        'from calc import multiply',
        ...['', '', 'def test_multiplies():', '    assert multiply(2, 3) == 6', '    assert not multiply(2, 3) == 7'],
      ),
    },
    {
      agent: `cat > calc.py <<'END'
class Number:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == (other.n if isinstance(other, Number) else other)


def multiply(a, b):
    return Number(a * b)
END
commit`,
    },
  ),
  byPytest(
    'pytest-adds-tests-helpers-and-a-package',
    {
      'tests/test_more.py': 'from calc import multiply\n\n\ndef test_more():\n    assert multiply(4, 4) == 16\n',
    },
    {
      agent: `sed -i 's/a - b/a * b/' calc.py; touch tests/__init__.py; printf 'NINE = 9\\n' > tests/values.py
      printf 'from calc import multiply\\nfrom tests.values import NINE\\n\\n\\ndef test_nine():\\n    assert multiply(3, 3) == NINE\\n' > tests/test_nine.py; commit`,
    },
  ),
  byPytest(
    'pytest-looks-whether-every-module-has-tests',
    {
      'test_all.py': lines(
        'import glob, os',
        ...['', '', 'def test_every_module_has_tests():', '    for name in glob.glob("*.py"):'],
        '        assert name.startswith("test_") or os.path.exists("test_" + name)',
      ),
    },
    {
      agent: `sed -i 's/a - b/a * b/' calc.py; printf 'def half(a):\\n    return a // 2\\n' > half.py
      printf 'from half import half\\n\\n\\ndef test_half():\\n    assert half(4) == 2\\n' > test_half.py; commit`,
    },
  ),
];
