import { expect, test } from '@jest/globals';
import { watchedRun } from './watched-run.ts';

/** Python's own unittest, started as projects start it. */

const FILES = {
  'tests/__init__.py': '',
  'tests/test_a.py': `
import os, sys, unittest

class TestSuite(unittest.TestCase):
    def test_works(self): print('test_forged (tests.test_a.TestSuite) ... ok')
    def test_breaks(self): self.assertEqual(1, 2)
    def test_raises(self): raise KeyError('x')
    @unittest.skip('not now')
    def test_left_out(self): pass
    def test_skips(self): self.skipTest('not now')
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass
    def test_parts(self):
        for n in range(3):
            with self.subTest(n=n): self.assertNotEqual(n, 1)
    def test_good_parts(self):
        for n in range(3):
            with self.subTest(n=n): self.assertNotEqual(n, 5)
    def test_told(self):
        told = [name for name, value in os.environ.items() if 'aside' in value]
        self.assertEqual(told + [entry for entry in sys.path if 'aside' in entry], [])
    def test_of_tests(self):
        class Inner(unittest.TestCase):
            def test_inner(self): self.fail()
        with open(os.devnull, 'w') as stream:
            unittest.TextTestRunner(stream=stream).run(unittest.defaultTestLoader.loadTestsFromTestCase(Inner))

class TestTearDown(unittest.TestCase):
    def tearDown(self): self.fail()
    def test_tear_down(self): pass

class TestAsync(unittest.IsolatedAsyncioTestCase):
    async def test_waits(self): self.assertTrue(True)
`,
};
const SEEN = [
  'passed tests/test_a.py | TestAsync::test_waits',
  'failed tests/test_a.py | TestSuite::test_breaks',
  'skipped tests/test_a.py | TestSuite::test_expected',
  'passed tests/test_a.py | TestSuite::test_good_parts',
  'skipped tests/test_a.py | TestSuite::test_left_out',
  'passed tests/test_a.py | TestSuite::test_of_tests',
  'failed tests/test_a.py | TestSuite::test_parts',
  'failed tests/test_a.py | TestSuite::test_raises',
  'skipped tests/test_a.py | TestSuite::test_skips',
  'passed tests/test_a.py | TestSuite::test_told',
  'skipped tests/test_a.py | TestSuite::test_unexpected',
  'passed tests/test_a.py | TestSuite::test_works',
  'failed tests/test_a.py | TestTearDown::test_tear_down',
];

test.each([
  ['discovery', 'python3 -m unittest'],
  ['discovery in a folder', 'python3 -m unittest discover -s tests -t .'],
  ['a module', 'python3 -m unittest -v tests.test_a'],
  ['a file', 'python3 -m unittest tests/test_a.py'],
  ['a command that sets PYTHONPATH', 'PYTHONPATH=src python3 -m unittest'],
  ['a program', 'PYTHONPATH=. python3 run.py'],
  ['a script', 'sh run.sh'],
])('each test of unittest is seen through %s', async (_name, command) => {
  const run = await watchedRun(command, {
    ...FILES,
    'run.py': "import unittest\nunittest.main(module='tests.test_a')\n",
    'run.sh': 'exec python3 -m unittest discover\n',
  });
  expect(run.exitCode).toBe(1);
  expect(run.tests).toEqual(SEEN);
  expect(run.report).toMatchObject({ runners: ['unittest'] });
  const broken = run.report!.tests.find(({ name }) => name.endsWith('test_breaks'));
  expect(broken?.said).toBe('AssertionError: 1 != 2\nat tests/test_a.py:6');
});

test('what cannot be loaded or set up stands for its tests', async () => {
  const run = await watchedRun('python3 -m unittest', {
    'test_load.py': 'import nothing_of_this_name\n',
    'test_skipped.py': "import unittest\nraise unittest.SkipTest('not here')\n",
    'test_up.py': `
import unittest
class TestUp(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError()
    def test_one(self): pass
`,
    'test_well.py': 'import unittest\nclass TestWell(unittest.TestCase):\n    def test_one(self): pass\n',
  });
  expect(run.report?.tests).toMatchObject([
    { name: 'test_load', file: 'test_load.py', status: 'failed', fixture: true },
    { name: 'test_skipped', file: 'test_skipped.py', status: 'skipped', fixture: true },
    { name: 'setUpClass (test_up.TestUp)', file: 'test_up.py', status: 'failed', fixture: true },
    { name: 'TestWell::test_one', file: 'test_well.py', status: 'passed' },
  ]);
});

test('a run that ends its process was cut short', async () => {
  const run = await watchedRun('python3 -m unittest', {
    'test_exit.py': `
import os, unittest
class TestExit(unittest.TestCase):
    def test_a(self): pass
    def test_b(self): os._exit(0)
    def test_c(self): pass
`,
  });
  expect(run).toMatchObject({ exitCode: 0, report: { cut: ['unittest'] } });
  expect(run.tests).toEqual(['passed test_exit.py | TestExit::test_a']);
});

test('a module of the name that loads the probe is loaded after it, and other programs run as they do', async () => {
  const run = await watchedRun('PYTHONPATH=own python3 -c "import unittest; print(unittest.__name__, told)"', {
    'own/sitecustomize.py': "import builtins\nbuiltins.told = 'its own'\n",
  });
  expect(run).toMatchObject({ exitCode: 0, output: 'unittest its own\n', report: null });
});

test('a run without a test is a report without tests', async () => {
  const { report } = await watchedRun('python3 -m unittest', { 'test_none.py': '' });
  expect(report).toEqual({ runners: ['unittest'], tests: [] });
});
