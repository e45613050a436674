import { describe, expect, test } from '@jest/globals';
import type { TestSource } from '../../../src/domain/evidence/test-source.ts';
import type { TestReport, TestResult } from '../../../src/domain/evidence/test-results.ts';
import { judgeRuns, type ChallengeRun } from '../../../src/receipts/challenge/answers.ts';
import { chooseTurned, turnablesOf } from '../../../src/receipts/challenge/turnable.ts';

const FILE = 'test_all.py';
const NAMES = Array.from({ length: 8 }, (_, i) => `test_${i}`);

const sourceOf = (names: readonly string[], { sure = true } = {}): TestSource => ({
  path: FILE,
  framework: 'pytest',
  tests: names.map((name) => ({ name: [name], several: false, skipped: false, turns: [{ edits: [], sure }] })),
  shared: [],
});

const reportOf = (status: (name: string) => TestResult['status'] | undefined): TestReport => ({
  runners: ['pytest'],
  tests: NAMES.flatMap((name) => {
    const now = status(name);
    return now ? [{ name, file: FILE, status: now }] : [];
  }),
});

const turnables = (options?: { sure?: boolean }) =>
  turnablesOf(
    [{ path: FILE, text: '', source: sourceOf(NAMES, options) }],
    reportOf(() => 'passed'),
  );

const EVEN = (name: string) => Number(name.at(-1)) % 2 === 0;

/** Both halves, and how each test ends in them. */
function runs(
  all: ReturnType<typeof turnables>,
  status: (name: string, turned: boolean) => TestResult['status'] | undefined,
  more: Partial<ChallengeRun> = {},
): ChallengeRun[] {
  return [EVEN, (name: string) => !EVEN(name)].map((half) => ({
    chosen: new Set(all.filter(({ name }) => half(name))),
    report: reportOf((name) => status(name, half(name))),
    ...{ exitedWell: false, ended: true, ...more },
  }));
}

test('exactly those that were turned fail: nothing is wrong', () => {
  const all = turnables();
  const [first] = runs(all, (_, turned) => (turned ? 'failed' : 'passed'));
  expect(judgeRuns(all, [first!])).toMatchObject({
    fooled: [],
    weak: [],
    turned: 4,
    answered: 4,
    silent: 0,
    disturbed: 0,
  });
});

test('one that surely fails and passes is found, also where the others answer', () => {
  const all = turnables();
  const [first] = runs(all, (name, turned) => (turned && name !== 'test_2' ? 'failed' : 'passed'));
  const judged = judgeRuns(all, [first!]);
  expect(judged.fooled.map(({ name }) => name)).toEqual(['test_2']);
  expect(judgeRuns(all, [first!], new Set(judged.fooled))).toMatchObject({ fooled: [], weak: judged.fooled });
});

test('what may honestly pass is weak; all of it, and many, can only be told by a person', () => {
  const all = turnables({ sure: false });
  const [first] = runs(all, () => 'passed', { exitedWell: true });
  expect(judgeRuns(all, [first!])).toMatchObject({ fooled: [], wrong: 'all-weak' });
  const three = all.slice(0, 3);
  expect(judgeRuns(three, [{ ...first!, chosen: new Set(three) }])).not.toHaveProperty('wrong');
});

describe('tests that fail as they are', () => {
  test('in order: those behind the first that was turned', () => {
    const all = turnables();
    const judged = judgeRuns(
      all,
      [EVEN, (name: string) => !EVEN(name)].map((half) => {
        const first = NAMES.findIndex(half);
        return {
          ...{ chosen: new Set(all.filter(({ name }) => half(name))), exitedWell: false, ended: true },
          report: reportOf((name) => (NAMES.indexOf(name) < first ? 'passed' : 'failed')),
        };
      }),
    );
    expect(judged).toMatchObject({ fooled: [], answered: 8, disturbed: 7 });
    expect(judged).not.toHaveProperty('wrong');
  });

  test('all of them, twice: somebody fails what was changed, and a person decides', () => {
    const all = turnables();
    const both = runs(all, () => 'failed');
    expect(judgeRuns(all, both)).toMatchObject({ fooled: [], wrong: 'all-failed' });
    expect(judgeRuns(all, both.slice(0, 1))).not.toHaveProperty('wrong');
    expect(
      judgeRuns(
        all,
        runs(all, () => 'failed', { ended: false }),
      ),
    ).not.toHaveProperty('wrong');
  });
});

describe('tests that do not answer', () => {
  test('are told where the process ended with a failure', () => {
    const all = turnables();
    expect(
      judgeRuns(
        all,
        runs(all, () => undefined),
      ),
    ).toMatchObject({ fooled: [], wrong: 'no-answer', silent: 8 });
  });

  test('are a silence where all is well by the exit code', () => {
    const all = turnables();
    expect(
      judgeRuns(
        all,
        runs(all, () => undefined, { exitedWell: true }),
      ),
    ).toMatchObject({ wrong: 'silenced' });
    expect(
      judgeRuns(
        all,
        runs(all, (_, turned) => (turned ? 'skipped' : 'passed'), { exitedWell: true }),
      ),
    ).toMatchObject({ wrong: 'silenced' });
  });

  test('are only counted where others answer', () => {
    const all = turnables();
    const [first] = runs(all, (name, turned) => (turned ? (name === 'test_0' ? 'failed' : undefined) : 'passed'));
    expect(judgeRuns(all, [first!])).toMatchObject({ answered: 1, silent: 3 });
    expect(judgeRuns(all, [first!])).not.toHaveProperty('wrong');
  });
});

describe('which tests can be turned', () => {
  const found = (source: Partial<TestSource['tests'][number]>, report: TestReport) =>
    turnablesOf(
      [
        {
          path: FILE,
          text: '',
          source: { ...sourceOf(['test_0']), tests: [{ ...sourceOf(['test_0']).tests[0]!, ...source }] },
        },
      ],
      report,
    ).map(({ keys }) => keys.length);

  test.each<[string, Partial<TestSource['tests'][number]>, number[]]>([
    ['one that passed', {}, [1]],
    ['not one that is skipped by its source', { skipped: true }, []],
    ['not one without a turn', { turns: [] }, []],
    ['not one whose name is computed', { name: [null] }, []],
  ])('%s', (_name, source, counts) => {
    expect(
      found(
        source,
        reportOf((name) => (name === 'test_0' ? 'passed' : undefined)),
      ),
    ).toEqual(counts);
  });

  test('not one that did not pass, nor one that may be two', () => {
    expect(
      found(
        {},
        reportOf(() => 'failed'),
      ),
    ).toEqual([]);
    const twice = { ...sourceOf(['test_0', 'test_0']) };
    expect(
      turnablesOf(
        [{ path: FILE, text: '', source: twice }],
        reportOf(() => 'passed'),
      ),
    ).toEqual([]);
  });

  test('by chance all but a quarter, and one that is sure at least', () => {
    const all = turnables();
    const left = Array.from({ length: 200 }, () => {
      const chosen = chooseTurned(all);
      expect(chosen.size).toBe(6);
      return all.findIndex((one) => !chosen.has(one));
    });
    expect(new Set(left).size).toBeGreaterThan(3);
    expect(chooseTurned(all.slice(0, 1)).size).toBe(1);
    const one = [all[0]!, ...turnables({ sure: false }).slice(1)];
    for (let i = 0; i < 50; i += 1) expect([...chooseTurned(one)]).toContain(all[0]);
  });
});
