import type { ToolCall } from './shell-calls.ts';

/** What the output of a command says of tests: how many passed and failed, each null where it does not tell. */
export interface TestSummary {
  passed: number | null;
  failed: number;
}

interface Words {
  of: RegExp;
  read: (groups: Record<string, string | undefined>) => TestSummary;
}

const n = (text: string | undefined): number => Number(text ?? 0);
const plain = ({ passed, failed, errors }: Record<string, string | undefined>): TestSummary => ({
  passed: passed === undefined ? null : n(passed),
  failed: n(failed) + n(errors),
});

/** The last line of each kind counts; what several lines of one kind say of a run is added up where `sum` is set. */
const RUNNERS: readonly (Words & { sum?: true })[] = [
  // jest, vitest
  {
    of: /^[ \t]*Tests:?[ \t]+(?:(?<failed>\d+) failed\b[,| \t]*)?(?:\d+ (?:skipped|todo)[,| \t]*)*(?:(?<passed>\d+) passed)?[^\n]*(?:\d+ total|\(\d+\))/gm,
    read: plain,
  },
  // pytest
  {
    of: /^[= ]*(?:(?<failed>\d+) failed,? ?)?(?:(?<passed>\d+) passed)?(?:,? ?\d+ (?:skipped|deselected|xfailed|xpassed|warnings?))*(?:,? ?(?<errors>\d+) errors?)?[^\n]{0,60} in [\d.:]+ ?s/gm,
    read: plain,
  },
  // node's own, in TAP or for people
  { of: /^(?:#|ℹ) pass (?<passed>\d+)\n(?:#|ℹ) fail (?<failed>\d+)/gm, read: plain },
  // mocha
  {
    of: /^[ \t]*(?<passed>\d+) passing\b[^\n]*\n(?:[ \t]*\d+ pending\n)?(?:[ \t]*(?<failed>\d+) failing)?/gm,
    read: plain,
  },
  // cargo: a line a crate
  { of: /^test result: \w+\. (?<passed>\d+) passed; (?<failed>\d+) failed/gm, read: plain, sum: true },
  // maven
  {
    of: /^(?:\[\w+\] )?Tests run: (?<all>\d+), Failures: (?<failed>\d+), Errors: (?<errors>\d+)/gm,
    read: ({ all, failed, errors }) => ({ passed: n(all) - n(failed) - n(errors), failed: n(failed) + n(errors) }),
  },
  // rspec
  {
    of: /^(?<all>\d+) examples?, (?<failed>\d+) failures?/gm,
    read: ({ all, failed }) => ({ passed: n(all) - n(failed), failed: n(failed) }),
  },
  // go: packages, not tests
  { of: /^FAIL\t\S+/gm, read: () => ({ passed: null, failed: 1 }), sum: true },
  // ctest
  {
    of: /tests passed, (?<failed>\d+) tests? failed out of (?<all>\d+)/g,
    read: ({ all, failed }) => ({ passed: n(all) - n(failed), failed: n(failed) }),
  },
  // Anybody's own: 4985/4992 passed
  {
    of: /\b(?<passed>\d+) ?(?:\/|of|out of) ?(?<all>\d+)(?: (?:tests?|specs?|checks?))?(?: (?:have|has|are))? (?:passed|passing|pass|ok|green)\b/gi,
    read: ({ passed, all }) => ({ passed: n(passed), failed: Math.max(0, n(all) - n(passed)) }),
  },
];

/** The last thing that it says of tests; undefined where there is none. A test of a test runner prints others before. */
export function testSummary(output: string): TestSummary | undefined {
  // Colours stand between the words.
  const text = output.replace(/\u001b\[[\d;]*m/g, '');
  let last: { at: number; summary: TestSummary } | undefined;
  for (const { of, read, sum } of RUNNERS) {
    const all = [...text.matchAll(of)]
      .map(({ groups = {}, index }) => ({ at: index, summary: read(groups) }))
      .filter(({ summary: { passed, failed } }) => passed !== null || failed > 0);
    const end = all.at(-1);
    if (!end || (last && last.at > end.at)) continue;
    last = sum ? { at: end.at, summary: all.map(({ summary }) => summary).reduce(added) } : end;
  }
  return last?.summary;
}

const added = (a: TestSummary, b: TestSummary): TestSummary => ({
  passed: a.passed === null && b.passed === null ? null : (a.passed ?? 0) + (b.passed ?? 0),
  failed: a.failed + b.failed,
});

const TESTING =
  /\b(?:tests?|spec|specs|jest|vitest|mocha|ava|tap|pytest|unittest|tox|nose2?|rspec|phpunit|ctest|nextest|check|verify|karma|cypress|playwright|surefire|gradlew?|mvn|bazel)\b/i;

/** A command that by its words, or by what came out, ran tests. */
export const ranTests = (call: ToolCall): boolean =>
  call.shell && (TESTING.test(call.input) || testSummary(call.output) !== undefined);
