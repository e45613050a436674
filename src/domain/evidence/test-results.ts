/** How one named test of a trial ended. */
export interface TestResult {
  /** The same in every checkout: suites and the test joined by ` > `. */
  name: string;
  /** Relative to the checkout, where the runner tells. */
  file?: string;
  status: 'passed' | 'failed' | 'skipped';
  /** No test itself: a file, a package or a hook that was reported in the place of tests. It is gone once those run. */
  fixture?: true;
  /** What the runner told of a failed one: what was expected and what came, and where; 1,000 characters at most. It decides nothing. */
  said?: string;
}

/** All that the known test runners of a trial reported. */
export interface TestReport {
  /** Names of those that ran, e.g. `node:test`. */
  runners: string[];
  tests: TestResult[];
  /** Names of those with a run that began and did not come to its end. */
  cut?: string[];
  /** Names of tests that had begun when the trial was ended, five at most, with their files. They decide nothing. */
  running?: string[];
  /** Functions of a runner or its assertions that were replaced while its tests ran, e.g. `TestCase.assertEqual`. They decide nothing. */
  changed?: string[];
}

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Tests by name and file; what ran more than once has passed where it always did, and was skipped where it never ran. */
export function statuses({ tests }: TestReport): Map<string, TestResult> {
  const rank = { skipped: 0, passed: 1, failed: 2 } as const;
  const found = new Map<string, TestResult>();
  for (const test of tests) {
    const key = keyOf(test);
    const known = found.get(key);
    if (!known || rank[test.status] > rank[known.status]) found.set(key, test);
  }
  return found;
}

export function countTests(report: TestReport): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { status } of statuses(report).values()) counts[status] += 1;
  return counts;
}

/** Names of `wanted` that did not pass; a name may be a test's own, with its suites, or with its file before it. */
export function notPassed(report: TestReport | null, wanted: readonly string[]): string[] {
  const tests = report ? [...statuses(report).values()] : [];
  return wanted.filter((name) => {
    const mine = tests.filter((test) => isNamed(test, name));
    return mine.length === 0 || mine.some(({ status }) => status !== 'passed');
  });
}

const DESPITE_EXIT_0 = 'failed, though the commands ended with 0';

/**
 * What is wrong with the tests of a result whose commands passed, a sentence each. The report decides before the exit code: at least
 * one test passes, and none fails but one that fails on the base too while the base's own commands pass. Every test that passes on the
 * base has to pass, and one that fails there has to be run as well: a run that ends early would hide it.
 * `mayGo`: whether a test may be gone or be skipped, as the task lets its file be changed. Null: no known runner ran.
 */
export function compareTests(given: {
  base: TestReport | null;
  /** Whether the commands pass on the base. */
  basePasses: boolean;
  now: TestReport | null;
  mayGo: (test: TestResult) => boolean;
}): string[] {
  const { base, basePasses, now, mayGo } = given;
  if (!now) return base ? ['no test runner ran, as one does on the base'] : [];
  const found = statuses(now);
  const { passed, failed, skipped } = countTests(now);
  if (passed === 0 && failed === 0)
    return [skipped === 0 ? 'not a single test was run' : `no test was run: ${skipped} skipped`];
  if (passed === 0) return [`no test passed, and ${failed} ${DESPITE_EXIT_0}`];
  const before = base ? [...statuses(base)].filter(([, { status }]) => status !== 'skipped') : [];
  const passing = before.filter(([, { status }]) => status === 'passed');
  const tests = before.filter(([, { status, fixture }]) => status === 'passed' || !fixture);
  const thatAre = (status: TestResult['status'] | undefined, due: typeof before) =>
    due.filter(([key]) => found.get(key)?.status === status).map(([, test]) => test);
  const lost = (test: TestResult) => !mayGo(test);
  // What fails on a base that passes may fail; what passes there is told of as such.
  const known = new Set((basePasses ? before : passing).map(([key]) => key));
  const contradicting = [...found].filter(([key, { status }]) => status === 'failed' && !known.has(key));
  return [
    sentence('that pass on the base', 'failed', thatAre('failed', passing)),
    sentence(
      'that were run',
      DESPITE_EXIT_0,
      contradicting.map(([, test]) => test),
    ),
    sentence('of the base', 'not run', thatAre(undefined, tests).filter(lost)),
    sentence('of the base', 'skipped', thatAre('skipped', before).filter(lost)),
    ...(now.cut ?? [])
      .filter((runner) => !endsThereToo(base, runner))
      .map((runner) => `the run of ${runner} was cut short`),
  ].filter((problem) => problem !== undefined);
}

/**
 * What is wrong with the tests of a check that is nobody's base, as one word for the log. A check without a known runner tells by
 * its exit code alone. `isProjects`: whether a file belongs to the result, whose own tests acceptance has judged.
 */
export function checkProblem(given: {
  base: TestReport | null;
  now: TestReport | null;
  isProjects: (file: string) => boolean;
}): 'cut-short' | 'no-tests' | 'failed-tests' | undefined {
  const { base, now, isProjects } = given;
  if (!now) return undefined;
  const empty = ({ status, fixture, file }: TestResult) =>
    fixture === true && status === 'skipped' && !(file !== undefined && isProjects(file));
  if (now.tests.some(empty) || now.cut?.some((runner) => !endsThereToo(base, runner))) return 'cut-short';
  if (!now.tests.some(({ status }) => status === 'passed')) return 'no-tests';
  // A check may expect the project's own tests to fail, and says so by its exit code.
  const own = ({ file }: TestResult) => file === undefined || !isProjects(file);
  return now.tests.some((test) => test.status === 'failed' && own(test)) ? 'failed-tests' : undefined;
}

/** Some projects end their process themselves as soon as all tests ran. */
const endsThereToo = (base: TestReport | null, runner: string): boolean =>
  base !== null && base.tests.length > 0 && (base.cut ?? []).includes(runner);

const sentence = (which: string, what: string, tests: readonly TestResult[]): string | undefined =>
  testsSentence(
    which,
    what,
    tests.map(({ name }) => name),
  );

/** `of the tests that pass on the base 1 failed: "adds"`; undefined: there are none. */
export function testsSentence(which: string, what: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const some = names.slice(0, 5).map((name) => `"${name.slice(0, 100)}"`);
  const rest = names.length > some.length ? ` and ${names.length - some.length} more` : '';
  return `of the tests ${which} ${names.length} ${what}: ${some.join(', ')}${rest}`;
}

const keyOf = ({ name, file = '' }: TestResult): string => `${file}\0${name}`;

function isNamed({ name, file }: TestResult, wanted: string): boolean {
  return (
    name === wanted ||
    name.endsWith(` > ${wanted}`) ||
    (file !== undefined && (wanted === `${file} > ${name}` || wanted === `${file}::${name}`))
  );
}
