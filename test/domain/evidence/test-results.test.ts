import { describe, expect, test } from '@jest/globals';
import { stemOf } from '../../../src/domain/repository/protected-paths.ts';
import {
  checkProblem,
  compareTests,
  countTests,
  notPassed,
  type TestReport,
  type TestResult,
} from '../../../src/domain/evidence/test-results.ts';

const report = (...lines: string[]): TestReport => ({
  runners: ['r'],
  tests: lines.map((line): TestResult => {
    const [status = '', name = '', file] = line.split(' ');
    return { name, status: status as TestResult['status'], ...(file ? { file } : {}) };
  }),
});
/** On a base whose commands pass, though its test `c` fails. */
const compare = (base: TestReport | null, now: TestReport | null, mayGo = (_test: TestResult) => false) =>
  compareTests({ base, basePasses: true, now, mayGo });
const base = report('passed a', 'passed b x.js', 'failed c', 'skipped d');

describe('the tests of the base have to run, and to pass where they do on the base', () => {
  test.each<[string, TestReport | null, string[]]>([
    ['all of them, and more', report('passed a', 'passed b x.js', 'passed c', 'passed new'), []],
    ['what failed on the base may fail', report('passed a', 'passed b x.js', 'failed c'), []],
    [
      'one fails',
      report('failed a', 'passed b x.js', 'failed c'),
      ['of the tests that pass on the base 1 failed: "a"'],
    ],
    ['one is gone', report('passed b x.js', 'failed c', 'passed z'), ['of the tests of the base 1 not run: "a"']],
    [
      'one of another file',
      report('passed a', 'failed c', 'passed b y.js'),
      ['of the tests of the base 1 not run: "b"'],
    ],
    ['one is skipped', report('passed a', 'failed c', 'skipped b x.js'), ['of the tests of the base 1 skipped: "b"']],
    [
      'one ran twice and failed once',
      report('passed a', 'failed a', 'passed b x.js', 'failed c'),
      ['of the tests that pass on the base 1 failed: "a"'],
    ],
    ['none ran', report(), ['not a single test was run']],
    ['all are skipped', report('skipped a', 'skipped b x.js'), ['no test was run: 2 skipped']],
    ['no runner ran', null, ['no test runner ran, as one does on the base']],
  ])('%s', (_name, now, problems) => expect(compare(base, now)).toEqual(problems));

  test('without a runner on either side there is nothing to compare', () => expect(compare(null, null)).toEqual([]));
  test('a base that could not be tried asks for one test at least', () => {
    expect(compare(null, report('passed a'))).toEqual([]);
    expect(compare(null, report())).toEqual(['not a single test was run']);
  });
  test('a test of a file that may be changed may go, and may not fail', () => {
    const mayGo = ({ file }: TestResult) => file === 'x.js';
    expect(compare(base, report('passed a', 'failed c'), mayGo)).toEqual([]);
    expect(compare(base, report('passed a', 'failed b x.js', 'failed c'), mayGo)).toHaveLength(1);
  });
  test('a test that fails on the base may fail, and neither vanish nor be skipped', () => {
    const rest = ['passed a', 'passed b x.js'];
    expect(compare(base, report(...rest))).toEqual(['of the tests of the base 1 not run: "c"']);
    expect(compare(base, report(...rest, 'skipped c'))).toEqual(['of the tests of the base 1 skipped: "c"']);
    expect(compare(base, report(...rest), ({ name }) => name === 'c')).toEqual([]);
  });
  test('what stood for tests on the base is gone once they run, and is not skipped', () => {
    const broken: TestReport = { ...base, tests: [{ name: 'x.js', file: 'x.js', status: 'failed', fixture: true }] };
    expect(compare(broken, report('passed b x.js'))).toEqual([]);
    expect(compare(broken, report('passed x.js x.js'))).toEqual([]);
    expect(compare(broken, report('passed a', 'skipped x.js x.js'))).toEqual([
      'of the tests of the base 1 skipped: "x.js"',
    ]);
  });
  test('a run that was cut short shows nothing, unless the base ends its process as well once tests ran', () => {
    const now: TestReport = { ...report('passed a', 'passed b x.js', 'failed c'), cut: ['r'] };
    const problem = ['the run of r was cut short'];
    expect(compare(base, now)).toEqual(problem);
    const passing: TestReport = { ...report('passed a', 'passed b x.js'), cut: ['r'] };
    expect(compare(null, passing)).toEqual(problem);
    expect(compare({ runners: ['r'], tests: [], cut: ['r'] }, passing)).toEqual(problem);
    expect(compare({ ...base, cut: ['s'] }, now)).toEqual(problem);
    expect(compare({ ...base, cut: ['r'] }, now)).toEqual([]);
  });
  test('the report decides before the exit code', () => {
    const said = 'failed, though the commands ended with 0';
    const failing = report('failed c');
    const fails = (base: TestReport | null, basePasses: boolean, now: TestReport) =>
      compareTests({ base, basePasses, now, mayGo: () => false });
    // The code under test ends the process with 0, from `atexit` or `TestMain`.
    expect(fails(failing, false, failing)).toEqual([`no test passed, and 1 ${said}`]);
    expect(fails(base, false, report('passed a', 'passed b x.js', 'failed c'))).toEqual([
      `of the tests that were run 1 ${said}: "c"`,
    ]);
    expect(fails(null, false, report('passed a', 'failed new'))).toEqual([
      `of the tests that were run 1 ${said}: "new"`,
    ]);
    expect(fails(base, true, report('passed a', 'passed b x.js', 'failed c', 'failed new'))).toEqual([
      `of the tests that were run 1 ${said}: "new"`,
    ]);
    // The base's own command passes with it failed.
    expect(fails(base, true, report('passed a', 'passed b x.js', 'failed c'))).toEqual([]);
    expect(fails(failing, true, failing)).toEqual([`no test passed, and 1 ${said}`]);
  });
  test('a check of the owner that reports a failed test of its own has failed, whatever its exit code', () => {
    const isProjects = (file: string) => file.startsWith('test/');
    const problem = (now: TestReport) => checkProblem({ base: null, now, isProjects });
    expect(problem(report('passed a', 'failed b held.py'))).toBe('failed-tests');
    expect(problem(report('passed a', 'failed b'))).toBe('failed-tests');
    expect(problem(report('passed a', 'failed b test/b.py'))).toBeUndefined();
    expect(problem(report('failed b'))).toBe('no-tests');
  });
  test('five are named, the others counted', () => {
    const many = report(...Array.from({ length: 9 }, (_, i) => `passed t${i}`));
    expect(compare(many, report('passed z'))[0]).toMatch(
      /^of the tests of the base 9 not run: "t0", "t1", "t2", "t3", "t4" and 4 more$/,
    );
  });
});

test('a test is named by its own name, with its suites, or with its file', () => {
  const now: TestReport = { runners: [], tests: [{ name: 'math > adds', file: 'a.js', status: 'passed' }] };
  expect(notPassed(now, ['adds', 'math > adds', 'a.js > math > adds', 'a.js::math > adds', 'ds', 'other'])).toEqual([
    'ds',
    'other',
  ]);
  expect(notPassed(null, ['adds'])).toEqual(['adds']);
  expect(notPassed(report('passed a x.js', 'failed a y.js'), ['a'])).toEqual(['a']);
});

test('what ran more than once is counted once', () => {
  expect(countTests(report('passed a', 'passed a', 'skipped b', 'passed b', 'failed c'))).toEqual({
    passed: 2,
    failed: 1,
    skipped: 0,
  });
});

test('files that stand for each other have one stem', () => {
  const same = ['test/helper.js', 'test/helper', 'test/helper.ts', 'test/helper/index.js', 'test/helper/__init__.py'];
  expect(new Set(same.map(stemOf))).toEqual(new Set(['test/helper']));
  expect(stemOf('test/a.test.js')).not.toBe(stemOf('test/a.js'));
  expect(stemOf('.env')).toBe('.env');
});
