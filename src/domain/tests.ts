/** How one named test of a trial ended. */
export interface TestResult {
  /** The same in every checkout: suites and the test joined by ` > `. */
  name: string;
  /** Relative to the checkout, where the runner tells. */
  file?: string;
  status: 'passed' | 'failed' | 'skipped';
}

/** All that the known test runners of a trial reported. */
export interface TestReport {
  /** Names of those that ran, e.g. `node:test`. */
  runners: string[];
  tests: TestResult[];
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

/**
 * What is wrong with the tests of a result, a sentence each: every test that passes on the base has to pass on it.
 * `mayGo`: whether a test may be gone or be skipped, as the task lets its file be changed. Null: no known runner ran.
 */
export function compareTests(given: {
  base: TestReport | null;
  now: TestReport | null;
  mayGo: (test: TestResult) => boolean;
}): string[] {
  const { base, now, mayGo } = given;
  if (!now) return base ? ['no test runner ran, as one does on the base'] : [];
  const found = statuses(now);
  const ran = [...found.values()].filter(({ status }) => status !== 'skipped');
  if (ran.length === 0) return ['not a single test was run'];
  const due = base ? [...statuses(base)].filter(([, test]) => test.status === 'passed') : [];
  const lost = (status: TestResult['status'] | undefined) =>
    due.filter(([key, test]) => found.get(key)?.status === status && (status === 'failed' || !mayGo(test)));
  return [
    sentence('failed', lost('failed')),
    sentence('not run', lost(undefined)),
    sentence('skipped', lost('skipped')),
  ].filter((problem) => problem !== undefined);
}

function sentence(what: string, tests: readonly [string, TestResult][]): string | undefined {
  if (tests.length === 0) return undefined;
  const some = tests.slice(0, 5).map(([, { name }]) => `"${name.slice(0, 100)}"`);
  const rest = tests.length > some.length ? ` and ${tests.length - some.length} more` : '';
  return `of the tests that pass on the base ${tests.length} ${what}: ${some.join(', ')}${rest}`;
}

const keyOf = ({ name, file = '' }: TestResult): string => `${file}\0${name}`;

function isNamed({ name, file }: TestResult, wanted: string): boolean {
  return (
    name === wanted ||
    name.endsWith(` > ${wanted}`) ||
    (file !== undefined && (wanted === `${file} > ${name}` || wanted === `${file}::${name}`))
  );
}
