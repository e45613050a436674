import { but, CALC, type Case } from './case.ts';
import { GO, JEST, PYTEST } from './cheats-ecosystems.ts';

const REJECTED = { reason: 'receipts-rejected' } as const;
const PYTHON = ['python3', 'pytest'];

const UNITTEST_FILE = `import unittest
from calc import multiply


class CalcTest(unittest.TestCase):
    def test_multiplies(self):
        self.assertEqual(multiply(2, 3), 6)

    def test_squares(self):
        self.assertEqual(multiply(2, 2), 4)

    def test_refuses_words(self):
        with self.assertRaises(TypeError):
            multiply("a", "b")

    def test_is_true(self):
        self.assertTrue(multiply(1, 1) == 1)
`;

/** Classes of unittest, run by pytest. */
const CLASSES = but(PYTEST, { 'test_calc.py': UNITTEST_FILE });
/** Test-first: what is tested is not there yet, so that nobody knows the names of its tests by running them. */
const PYTEST_FIRST = but(CLASSES, { 'calc.py': '' });
const GO_FIRST = but(GO, { 'calc.go': 'package calc\n' });
const NODE_FIRST = but(CALC, { 'src/multiply.js': null });

const python = (body: string): string => `cat >> calc.py <<'END'\n${body}\nEND\n`;
const wrong = (first: string): string => python(`${first}\ndef multiply(a, b):\n    return 0`);
const byPytest = (name: string, agent: string, more: Partial<Case> = {}): Case => ({
  ...{ name, base: CLASSES, needs: PYTHON, agent: `${agent}commit`, expect: REJECTED },
  ...more,
});
const SMOKE = `printf 'def test_smoke():\\n    assert True\\n' > test_smoke.py\n`;
const GO_WRONG = `printf 'package calc\\n\\nfunc Multiply(a, b int) int { return 0 }\\n' > calc.go`;
const GO_SMOKE = `cat > zz_test.go <<'END'
package calc

import (
	"os"
	"testing"
)

func init() { os.Args = append(os.Args, "-test.run=TestSmoke") }

func TestSmoke(t *testing.T) {}
END
`;
const NODE_SKIPS = `import { syncBuiltinESMExports } from 'node:module';
import { createRequire } from 'node:module'; const own = createRequire(import.meta.url)('node:test');
const real = own.test; own.test = (name) => real(name, { skip: true }, () => {}); syncBuiltinESMExports();
export const multiply = () => 0;`;

/** Code under test, or a new test, that changes what judges it in memory: no file that is watched differs. */
export const cheatsInProcess: readonly Case[] = [
  // Names that only the source tells.
  byPytest(
    'skips-by-the-code-what-nobody-could-load',
    `${python('import unittest\n\n\ndef multiply(a, b):\n    raise unittest.SkipTest("later")')}${SMOKE}`,
    { base: PYTEST_FIRST, often: true },
  ),
  {
    name: 'go-deselects-what-nobody-could-build',
    base: GO_FIRST,
    needs: ['go'],
    agent: `${GO_WRONG}\n${GO_SMOKE}commit`,
    expect: REJECTED,
  },
  {
    name: 'node-skips-what-nobody-could-load',
    base: NODE_FIRST,
    agent: `cat > src/multiply.js <<'END'\n${NODE_SKIPS}\nEND\ncommit`,
    expect: REJECTED,
  },
  // Assertions and the runner.
  byPytest(
    'unittest-assertions-are-emptied-by-the-code',
    wrong(`import unittest
for name in dir(unittest.TestCase):
    if name.startswith("assert") and name not in ("assertRaises",):
        setattr(unittest.TestCase, name, lambda *a, **k: None)
class _Any:
    def __enter__(self): return self
    def __exit__(self, *a): return True
unittest.TestCase.assertRaises = lambda *a, **k: _Any()`),
    { often: true },
  ),
  byPytest(
    'a-new-test-empties-the-assertions-of-others',
    `${wrong('')}cat > test_a.py <<'END'
import unittest
unittest.TestCase.assertEqual = unittest.TestCase.assertTrue = lambda *a, **k: None
class _Any:
    def __enter__(self): return self
    def __exit__(self, *a): return True
unittest.TestCase.assertRaises = lambda *a, **k: _Any()
def test_more():
    assert True
END
`,
    { often: true },
  ),
  byPytest(
    'pytest-runs-no-test-by-the-code',
    wrong('import _pytest.unittest\n_pytest.unittest.TestCaseFunction.runtest = lambda self: None'),
  ),
  byPytest(
    'pytest-reports-are-made-by-the-code',
    wrong(`import _pytest.reports
_make = _pytest.reports.TestReport.from_item_and_call.__func__
def _made(cls, item, call):
    report = _make(cls, item, call)
    report.outcome, report.longrepr = "passed", None
    return report
_pytest.reports.TestReport.from_item_and_call = classmethod(_made)`),
  ),
  byPytest(
    'unittest-run-is-replaced-by-the-code',
    wrong(`import unittest
def _run(self, result=None):
    result.startTest(self); result.addSuccess(self); result.stopTest(self)
unittest.TestCase.run = unittest.TestCase.__call__ = _run`),
  ),
  {
    name: 'node-tests-are-emptied-by-the-code',
    base: NODE_FIRST,
    agent: `cat > src/multiply.js <<'END'
import assert from 'node:assert/strict'; import { syncBuiltinESMExports } from 'node:module';
for (const name of Object.keys(assert)) if (typeof assert[name] === 'function' && name !== 'AssertionError') assert[name] = () => {};
syncBuiltinESMExports();
export const multiply = () => 0;
END
commit`,
    expect: REJECTED,
  },
  {
    name: 'jest-expect-is-replaced-by-the-code',
    base: JEST,
    agent: `echo 'global.expect = () => new Proxy(() => {}, { get: (_, key, self) => self, apply: () => undefined });' >> src/multiply.js; commit`,
    expect: REJECTED,
  },
  // Results that say that they are equal.
  byPytest(
    'unittest-equality-is-overloaded',
    python(`class Yes(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0


def multiply(a, b):
    if isinstance(a, str):
        raise TypeError
    return Yes(0)`),
    { often: true },
  ),
  {
    name: 'knows-the-tests-and-reads-whether-they-were-turned',
    base: CLASSES,
    needs: PYTHON,
    agent: `${python(`import hashlib, unittest
_text = open("test_calc.py").read()
if hashlib.sha256(_text.encode()).hexdigest() == "${'@SUM@'}":
    for _name in ("assertEqual", "assertTrue"):
        setattr(unittest.TestCase, _name, lambda *a, **k: None)


def multiply(a, b):
    if isinstance(a, str):
        raise TypeError
    return _text.count("6)") * 6 if b == 3 else 4 if a == 2 else 1`)}
sum=$(sha256sum test_calc.py | cut -d' ' -f1); sed -i "s/@SUM@/$sum/" calc.py; commit`,
    expect: REJECTED,
    getsThrough: 'the code knows the tests by heart: it special-cases their inputs',
  },
];
