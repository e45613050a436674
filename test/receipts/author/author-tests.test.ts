import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Policy } from '../../../src/domain/repository/repo-policy.ts';
import type { TestReport, TestResult } from '../../../src/domain/evidence/test-results.ts';
import { acceptance } from '../../../src/receipts/kinds/acceptance.ts';
import { declaredProblems } from '../../../src/receipts/author/declared.ts';
import { TrialLab } from '../trial-lab.ts';

/** What the tests of the base show where they are read, and where they run without those of the result. */

let lab: TrialLab;
beforeEach(() => {
  lab = new TrialLab();
});
afterEach(() => lab.remove());

describe('names that only the source tells', () => {
  const FILE = 'test_calc.py';
  const SOURCE = `import pytest
from calc import add


def test_adds():
    assert add(1, 1) == 2


def test_adds_more():
    assert add(1, 2) == 3


@pytest.mark.skip
def test_later():
    assert False


@pytest.mark.parametrize("a", [1, 2])
def test_each(a):
    assert add(a, 0) == a
`;
  const BROKEN: TestReport = {
    runners: ['pytest'],
    tests: [{ name: FILE, file: FILE, status: 'failed', fixture: true }],
  };
  const ALL: Record<string, TestResult['status']> = {
    test_adds: 'passed',
    test_adds_more: 'passed',
    test_later: 'skipped',
    'test_each[1]': 'passed',
    'test_each[2]': 'passed',
  };
  const reportOf = (tests: Record<string, TestResult['status'] | null>): TestReport => ({
    runners: ['pytest'],
    tests: Object.entries({ ...ALL, ...tests }).flatMap(([name, status]) =>
      status ? [{ name, file: FILE, status }] : [],
    ),
  });
  const problems = (
    now: TestReport,
    {
      files = {},
      before = BROKEN,
      ...policy
    }: { files?: Record<string, string>; before?: TestReport | null } & Partial<Policy> = {},
  ) => {
    const base = lab.commit({ [FILE]: SOURCE, ...files });
    const evidence = lab.evidence({
      ...{ base, commit: lab.commit({ 'calc.py': '' }) },
      policy: { verify: ['python3 -m pytest -q'], ...policy },
    });
    return declaredProblems(evidence, { base: before, now, restored: [] });
  };
  const NO_SKIP = { [FILE]: SOURCE.replace('@pytest.mark.skip\ndef test_later', 'def test_later') };

  test('each has passed, but for what the source skips', async () => {
    expect(await problems(reportOf({}))).toEqual([]);
  });

  test('one was not run', async () => {
    const [problem] = await problems(reportOf({ test_adds: null }));
    expect(problem).toBe('of the tests that the base declares 1 not run: "test_adds"');
  });

  test('all of a file were left out that the base could not load', async () => {
    const own: TestReport = {
      runners: ['pytest'],
      tests: [{ name: 'test_own', file: 'test_own.py', status: 'passed' }],
    };
    expect((await problems(own))[0]).toMatch(/declares 3 not run: "test_adds", "test_adds_more", "test_each"$/);
  });

  test('one was skipped, and nothing of the base’s skips', async () => {
    const now = reportOf({ test_adds: 'skipped', test_later: 'passed' });
    expect(await problems(now, { files: NO_SKIP })).toEqual([
      'of the tests that the base declares 1 skipped: "test_adds"',
    ]);
    expect(
      await problems(now, { files: { ...NO_SKIP, 'tests/conftest.py': 'import pytest\npytest.skip("no")\n' } }),
    ).toEqual([]);
  });

  test.each<[string, Parameters<typeof problems>[1]]>([
    ['its tests ran on the base', { before: reportOf({}) }],
    ['the commands select', { verify: ['python3 -m pytest -k adds'] }],
    ['the configuration selects', { files: { 'pytest.ini': '[pytest]\naddopts = -m "not slow"\n' } }],
    ['a script that a command names selects', { verify: ['sh run.sh'], files: { 'run.sh': 'pytest -k adds\n' } }],
    [
      'the base leaves the file out itself',
      { before: { ...BROKEN, tests: [{ ...BROKEN.tests[0]!, status: 'skipped' }] } },
    ],
  ])('nothing is asked for where %s', async (_name, given) => {
    expect(await problems(reportOf({ test_adds: null }), given)).toEqual([]);
  });

  test('nor of a file that nobody ran', async () => {
    const own: TestReport = {
      runners: ['pytest'],
      tests: [{ name: 'test_own', file: 'test_own.py', status: 'passed' }],
    };
    expect(await problems(own, { before: null })).toEqual([]);
  });

  test('a test that another class inherits has run there', async () => {
    const source = `from calc import add


class TestBase:
    def test_one(self):
        assert add(1, 0) == self.one
`;
    const now: TestReport = {
      runners: ['pytest'],
      tests: [{ name: 'TestReal::test_one', file: FILE, status: 'passed' }],
    };
    expect(await problems(now, { files: { [FILE]: source } })).toEqual([]);
  });
});

describe('without the test files of the result', () => {
  const TEST = (name: string, body = '') =>
    `import os\nimport unittest\nfrom one import one\n\n\nclass ${name}(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(one, 1)\n${body}`;
  const FILES = { 'one.py': 'one = 0\n', 'test_one.py': TEST('One') };
  const tried = (
    change: Record<string, string>,
    { verify = ['python3 -m pytest -q -p no:cacheprovider'], ...more }: Partial<Policy> = {},
    files: Record<string, string> = {},
  ) => {
    const base = lab.commit({ ...FILES, ...files });
    const evidence = lab.evidence({ base, commit: lab.commit(change), policy: { verify, ...more } });
    return acceptance.collect(evidence);
  };
  const FIX = { 'one.py': 'one = 1\n' };

  test('a new test that empties the assertions of others decides nothing', async () => {
    const finding = await tried({
      'test_a.py': 'import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n',
    });
    expect(finding).toMatchObject({
      ok: false,
      summary: expect.stringContaining('of the tests of the base, without test_a.py, 1 failed: "One::test_it"'),
    });
  });

  test('honest tests are left out, and said', async () => {
    const finding = await tried({ ...FIX, 'test_more.py': TEST('More') });
    expect(finding).toMatchObject({ ok: true, evidence: { withoutNew: { files: ['test_more.py'], tests: 1 } } });
    expect(finding?.summary).toContain('also without test_more.py');
  });

  test.each<[string, Record<string, string>, Partial<Policy>]>([
    ['a scope leaves the tests to the agent', { ...FIX, 'test_more.py': TEST('More') }, { allow: [['**']] }],
    [
      'the sources need what only looks like a test',
      { 'one.py': 'from test_value import one\n', 'test_value.py': 'one = 1\n' },
      {},
    ],
  ])('no such trial where %s', async (_name, change, policy) => {
    const finding = await tried(change, policy);
    expect(finding).toMatchObject({ ok: true });
    expect(finding!.evidence).not.toHaveProperty('withoutNew');
  });

  test('a command that names a new file says nothing', async () => {
    const finding = await tried(
      { ...FIX, 'test_more.py': TEST('More') },
      { verify: ['python3 -m pytest -q -p no:cacheprovider test_one.py test_more.py'] },
    );
    expect(finding).toMatchObject({ ok: true, evidence: { withoutNew: { notPossible: 'not-run' } } });
  });

  test('a test that looks whether a file is there is no cheat', async () => {
    const looks =
      '\n    def test_looks(self):\n        names = [n for n in os.listdir(".") if n[:4] == "new_"]\n        assert all(os.path.exists("test_" + n) for n in names)\n';
    const finding = await tried(
      { ...FIX, 'new_one.py': '\n', 'test_new_one.py': TEST('More') },
      {},
      { 'test_one.py': TEST('One', looks) },
    );
    expect(finding).toMatchObject({ ok: true });
  });
});
