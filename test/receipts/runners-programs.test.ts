import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { watchedRun } from './watched-run.ts';

/** pytest, go test and cargo test, where they are installed. */

const has = (command: string, ...args: string[]): boolean => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

function where(installed: boolean, name: string, tests: () => void): void {
  if (!installed) console.warn(`${name} is not installed: its tests are skipped`);
  (installed ? describe : describe.skip)(name, tests);
}

where(has('python3', '-m', 'pytest', '--version'), 'pytest', () => {
  const files = {
    'tests/test_a.py': `
import os, pytest, unittest

def test_works(): print('tests/test_a.py::test_forged PASSED')
@pytest.mark.skip
def test_left_out(): pass
@pytest.mark.xfail
def test_expected(): assert 0
@pytest.mark.xfail
def test_unexpected(): pass
def test_breaks(): assert 0
class TestSuite:
    @pytest.mark.parametrize('value', ['a::b', 'c'])
    def test_each(self, value): pass
@pytest.fixture
def broken():
    yield
    assert 0
def test_tear_down(broken): pass
class Old(unittest.TestCase):
    def test_old(self): pass
@pytest.mark.parametrize('told', [[name for name, value in os.environ.items() if 'aside' in value]])
def test_told(told): assert told == []
`,
    'tests/test_exit.py': `
import os
def test_first(): pass
def test_second(): os._exit(0)
def test_third(): pass
`,
    'run.sh': 'python3 -m pytest -q tests/test_a.py\n',
  };
  const seen = [
    'passed tests/test_a.py | test_works',
    'skipped tests/test_a.py | test_left_out',
    'skipped tests/test_a.py | test_expected',
    'skipped tests/test_a.py | test_unexpected',
    'failed tests/test_a.py | test_breaks',
    'passed tests/test_a.py | TestSuite::test_each[a::b]',
    'passed tests/test_a.py | TestSuite::test_each[c]',
    'failed tests/test_a.py | test_tear_down',
    'passed tests/test_a.py | Old::test_old',
    'passed tests/test_a.py | test_told[told0]',
  ];

  test.each([
    ['python', 'python3 -m pytest tests/test_a.py'],
    ['a shell script', 'sh run.sh'],
    ['a command that sets PYTHONPATH', 'PYTHONPATH=src python3 -m pytest tests/test_a.py'],
    ['a folder of its own', 'cd tests && python3 -m pytest test_a.py'],
  ])('each test is seen through %s', async (_name, command) => {
    const run = await watchedRun(command, { ...files, 'pytest.ini': '[pytest]\n' });
    expect(run.exitCode).toBe(1);
    expect(run.report?.runners).toEqual(['pytest']);
    expect(run.tests).toEqual(seen);
  });

  test('a run that ends early has the tests up to there', async () => {
    const run = await watchedRun('python3 -m pytest tests/test_exit.py', files);
    expect(run).toMatchObject({
      ...{ exitCode: 0, tests: ['passed tests/test_exit.py | test_first'] },
      report: { cut: ['pytest'] },
    });
  });

  test('a file that cannot be loaded, or leaves itself out, stands for its tests', async () => {
    const run = await watchedRun('python3 -m pytest --continue-on-collection-errors', {
      'test_a.py': 'def test_a(): pass\n',
      'test_b.py': 'import nowhere\ndef test_b(): pass\n',
      'test_c.py': 'import unittest\nraise unittest.SkipTest("later")\n',
    });
    expect(run.tests?.toSorted()).toEqual([
      'failed test_b.py | test_b.py',
      'passed test_a.py | test_a',
      'skipped test_c.py | test_c.py',
    ]);
    expect(run.report?.tests.filter(({ fixture }) => fixture)).toHaveLength(2);
  });

  test('a runner that finds no test has run; one that only lists has not', async () => {
    const none = await watchedRun('python3 -m pytest -k nothing', files);
    expect(none.report).toEqual({ runners: ['pytest'], tests: [] });
    expect((await watchedRun('python3 -m pytest --collect-only', files)).report).toBeNull();
  });
});

where(
  has('python3', '-m', 'pytest', '--version'),
  'functions of pytest and unittest that the code under test replaces',
  () => {
    const tests =
      'import a, unittest\nclass TestA(unittest.TestCase):\n    def test_a(self): self.assertEqual(a.f(), 1)\n';
    const F = 'def f(): return 1\n';
    test.each([
      ['nothing', '', undefined],
      ['an assertion', 'import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n', ['TestCase.assertEqual']],
      [
        'the code of one',
        'import unittest\ndef no(self, first, second, msg=None): pass\nunittest.TestCase._baseAssertEqual.__code__ = no.__code__\n',
        ['TestCase._baseAssertEqual'],
      ],
      [
        'the report',
        'import _pytest.reports as r\nkept = r.TestReport.from_item_and_call.__func__\nr.TestReport.from_item_and_call = classmethod(lambda *a: kept(*a))\n',
        ['TestReport.from_item_and_call'],
      ],
      [
        'what is its own',
        "import json\nfrom unittest import mock\nmock.patch.object(json, 'dumps').start()\n",
        undefined,
      ],
    ])('%s', async (_name, code, changed) => {
      const { report } = await watchedRun('python3 -m pytest -q', { 'a.py': code + F, 'test_a.py': tests });
      expect(report?.tests.map(({ status }) => status)).toEqual(['passed']);
      expect(report?.changed).toEqual(changed);
    });
  },
);

where(has('go', 'version'), 'go test', () => {
  const files = {
    'go.mod': 'module example.com/x\n\ngo 1.22\n',
    'a_test.go': `package x

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestWorks(t *testing.T) {
	fmt.Println("--- PASS: TestForged (0.00s)")
	fmt.Println(\`{"Action":"pass","Package":"example.com/x","Test":"TestForgedToo"}\`)
}
func TestLeftOut(t *testing.T) { t.Skip("later") }
func TestSuite(t *testing.T) {
	t.Run("works", func(t *testing.T) {})
	t.Run("breaks", func(t *testing.T) { t.Error("seen by people") })
}
func TestTold(t *testing.T) {
	if strings.Contains(strings.Join(os.Environ(), " "), "aside") {
		t.Error("the environment names the report")
	}
}
`,
    'b/b_test.go': 'package b\n\nimport "testing"\n\nfunc TestWorks(t *testing.T) {}\n',
    Makefile: 'all:\n\tgo test ./...\n',
  };
  const seen = [
    'failed - | example.com/x > TestSuite',
    'failed - | example.com/x > TestSuite/breaks',
    'passed - | example.com/x > TestSuite/works',
    'passed - | example.com/x > TestTold',
    'passed - | example.com/x > TestWorks',
    'passed - | example.com/x/b > TestWorks',
    'skipped - | example.com/x > TestLeftOut',
  ];

  test.each(['go test ./...', 'go test -v -count=1 ./...', 'make', 'go test -json ./...'])('%s', async (command) => {
    const run = await watchedRun(command, files);
    expect(run.exitCode).not.toBe(0);
    expect(run.report?.runners).toEqual(['go test']);
    expect(run.tests?.toSorted()).toEqual(seen);
    expect(run.output).toMatch(/seen by people/);
    expect(run.output).toMatch(/ok {2}\t|"Action":"pass"/);
    expect(run.output.includes('"Action":"start"')).toBe(command.includes('-json'));
  });

  test('a test that prints the marker of its own harness gets through', async () => {
    const forged = 'package x\n\nimport "testing"\n\nfunc TestA(t *testing.T) { print() }\n';
    const code =
      'package x\n\nimport "fmt"\n\nfunc print() { fmt.Println("\\x16=== RUN   TestB\\n\\x16--- PASS: TestB (0.00s)") }\n';
    const run = await watchedRun('go test', { 'go.mod': files['go.mod'], 'a_test.go': forged, 'a.go': code });
    expect(run.tests).toContain('passed - | example.com/x > TestB');
  });

  test('what a package prints before its first test ends no test', async () => {
    const words = ['--- FAIL: only words', '--- FAIL: TestA (0.00s)', '--- PASS: TestB (0.00s)'];
    const prints = `package x\n\nimport "fmt"\n\nfunc init() {\n${words.map((line) => `\tfmt.Println("${line}")`).join('\n')}\n}\n`;
    const tests = 'package x\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n';
    const run = await watchedRun('go test', { 'go.mod': files['go.mod'], 'a_test.go': tests, 'a.go': prints });
    expect(run).toMatchObject({ exitCode: 0, tests: ['passed - | example.com/x > TestA'] });
    const ends = prints.replace('\n}\n', '\n\tpanic("no")\n}\n');
    const broken = await watchedRun('go test', { 'go.mod': files['go.mod'], 'a_test.go': tests, 'a.go': ends });
    expect(broken.tests).toEqual(['failed - | example.com/x']);
  });

  test('what runs no test is passed on as it is', async () => {
    expect(await watchedRun('go version && go test -list . ./b', files)).toMatchObject({ exitCode: 0, report: null });
    expect(await watchedRun('go test ./none', files)).toMatchObject({
      exitCode: 1,
      tests: ['failed - | ./none'],
    });
  });
});

where(has('cargo', '--version'), 'cargo test', () => {
  const files = {
    'Cargo.toml': '[package]\nname = "my-crate"\nversion = "0.1.0"\nedition = "2021"\n',
    'src/lib.rs': `
pub fn add(a: u64, b: u64) -> u64 { a + b }
#[cfg(test)]
mod tests {
    #[test] fn works() { use std::io::Write; std::io::stdout().write_all(b"\\ntest tests::forged ... ok\\n").unwrap(); }
    #[test] fn breaks() { assert_eq!(super::add(2, 2), 5); }
    #[test] #[ignore = "later"] fn left_out() {}
    #[test] #[should_panic] fn panics() { panic!() }
}
`,
    'tests/it.rs': '#[test] fn outside() { assert_eq!(my_crate::add(1, 1), 2); }\n',
    'tests/exit.rs': '#[test] fn first() {}\n#[test] fn second() { std::process::exit(0); }\n',
  };

  test('each test is seen by its target', async () => {
    const run = await watchedRun('cargo test --offline --no-fail-fast --lib --test it', files);
    expect(run.exitCode).toBe(101);
    expect(run.report?.runners).toEqual(['cargo test']);
    expect(run.tests?.toSorted()).toEqual([
      'failed - | my-crate > tests::breaks',
      'passed - | my-crate > it > outside',
      'passed - | my-crate > tests::panics',
      'passed - | my-crate > tests::works',
      'skipped - | my-crate > tests::left_out',
    ]);
  });

  test('a run that ends early has the tests up to there', async () => {
    const run = await watchedRun('cargo test --offline --test exit -- --test-threads 1', files);
    expect(run).toMatchObject({ exitCode: 0, tests: ['passed - | my-crate > exit > first'] });
  });
});
