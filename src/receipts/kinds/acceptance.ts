import { matches } from '../../adapters/glob.ts';
import { treeEntries } from '../../adapters/git/entries.ts';
import { lfsPointers } from '../../adapters/git/worktree/lfs.ts';
import { formatDuration } from '../../domain/values/duration.ts';
import {
  compareTests,
  countTests,
  notPassed,
  statuses,
  type TestReport,
  type TestResult,
} from '../../domain/evidence/test-results.ts';
import type { Finding } from '../../domain/evidence/receipt.ts';
import type { ReceiptCollector, Tried } from '../../ports.ts';
import { clip, counted, named, sample, quoted } from '../bounded.ts';
import { digestOf } from '../canonical.ts';
import { declaredProblems } from '../author/declared.ts';
import { withoutNew, type WithoutNew } from '../author/without-new.ts';
import { baseTrial, type BaseTrial } from '../trial/base-trial.ts';
import { cannotStart } from '../trial/cannot-start.ts';
import { impossibleTests } from '../claims/claimed-tests.ts';
import { whatFailed } from '../trial/failed-check.ts';
import { tamperedWith } from '../trial/tampering.ts';
import { testGlobs } from '../../domain/repository/protected-paths.ts';
import { judgedPaths, passed, spent, tryCommit, withoutSubmodules, type Step, type Trial } from '../trial/trial.ts';

/**
 * The task's commands, in a fresh checkout of the result with what the agent may not decide about as in the base. Where a
 * known test runner ran, every test that passes on the base has to pass. What runs inside the tested program's own process
 * could still forge its tests' results: `verify.heldOut` is for that.
 */
export const acceptance: ReceiptCollector = {
  kind: 'acceptance',
  async collect(evidence) {
    const { finding, report } = (await accept(evidence)) ?? {};
    const lie = finding && impossibleTests(evidence, report ? countTests(report) : null);
    return lie ? { ...finding, ok: false, reason: 'fabricated', ...(finding.ok ? { summary: lie } : {}) } : finding;
  },
};

/** The same by a worker that knows nothing of the agent. */
export const acceptanceAgain: ReceiptCollector<Tried> = {
  kind: 'acceptance',
  collect: async (evidence) => (await accept(evidence))?.finding,
};

async function accept(evidence: Tried): Promise<{ finding: Finding; report: TestReport | null } | undefined> {
  const { policy, result } = evidence;
  if (policy.verify.length === 0) return undefined;
  const lacking = await withoutSubmodules(evidence);
  if (lacking) return { finding: lacking, report: null };
  const tried = await untilItPasses(evidence);
  const { trial, unchecked, base, attempts } = tried;
  const { steps, report } = trial;
  const isAdded = new Set(result.changes.flatMap(({ path, kind }) => (kind === 'added' ? path : [])));
  const setAside = trial.restored.filter((path) => isAdded.has(path));
  const restored = [...(result.own?.restored ?? []), ...trial.restored.filter((path) => !isAdded.has(path))];
  const alone = tried.wrong === undefined ? await withoutTheirs(evidence, { trial, usedMs: tried.usedMs }) : undefined;
  const wrong = tried.wrong ?? alone?.wrong;
  const pointers = await lfsPointers(result, await treeEntries(result.gitDir, result.commit));
  return {
    report,
    finding: {
      ok: wrong === undefined,
      ...(wrong === undefined ? { shows: true } : {}),
      summary:
        wrong === undefined
          ? praise(steps, { report, attempts, restored, setAside, pointers, without: alone?.without ?? [] })
          : (unchecked ? `${unchecked.why}: ` : '') +
            wrong +
            judgedNote(restored) +
            asideNote(setAside) +
            pointersNote(pointers),
      ...(unchecked ? { reason: unchecked.reason } : tried.tampered ? { reason: 'tampered' as const } : {}),
      evidence: {
        commit: result.commit,
        steps: steps.slice(0, 12).map(shortened),
        commands: policy.verify.length,
        attempts,
        runners: report?.runners ?? [],
        tests: report && countTests(report),
        testsDigest: report && digestOf(linesOf(report)),
        ...(base
          ? { base: { passed: base.passed, setUp: base.setUp, tests: base.report && countTests(base.report) } }
          : {}),
        ...replacedIn(report, base?.report),
        ...(alone && toldOf(alone)),
        restored: sample(restored),
        restoredCount: restored.length,
        ...(setAside.length > 0 ? { setAside: sample(setAside).slice(0, 3), setAsideCount: setAside.length } : {}),
        ...(pointers.length > 0 ? { pointers: sample(pointers).slice(0, 3), pointersCount: pointers.length } : {}),
      },
    },
  };
}

/** The trial of the result, again where it fails and `verify.retries` says so. */
async function untilItPasses(evidence: Tried) {
  const { checks } = evidence.policy;
  const asInBase = await judgedPaths(evidence);
  let usedMs = 0;
  // Its build cache spares each trial behind it a minute of compiling the standard library.
  const { entries } = await treeEntries(evidence.result.gitDir, evidence.result.base);
  if ([...entries.keys()].some((path) => /(^|\/)go\.mod$/.test(path))) await baseTrial(evidence);
  for (let attempts = 1; ; attempts += 1) {
    const { commit, changes } = evidence.result;
    const trial = await tryCommit(evidence, { name: 'acceptance', commit, asInBase, tracked: true });
    usedMs += spent(trial.steps);
    const ended = trial.skipped === null && trial.steps.every(passed);
    const base = ended ? await baseTrial(evidence) : undefined;
    const tampered = base && tamperedWith(trial.touched ?? [], { usual: base.usual, changes });
    const wrong =
      whatIsWrong(evidence, { trial, base, tampered }) ?? (base && (await undeclared(evidence, { trial, base })));
    const unchecked = ended ? undefined : await cannotStart(evidence, { trial, onBase: () => baseTrial(evidence) });
    if (wrong === undefined || unchecked || attempts > checks.retries)
      return { trial, wrong, tampered, unchecked, base, attempts, usedMs };
  }
}

function whatIsWrong(
  { policy, result, rules }: Tried,
  { trial, base, tampered }: { trial: Trial; base: BaseTrial | undefined; tampered: string | undefined },
): string | undefined {
  const { limits, checks, allow, restore } = policy;
  const failed = trial.steps.find((step) => !passed(step));
  const changed = new Set(result.changes.map(({ path }) => path));
  const testsChanged = [...changed].some(matches(testGlobs(restore)));
  // Of results whose own were put back, the tests that differ are those that they were allowed to change.
  const mayChange = allow.length > 0 || rules !== undefined;
  const mayGo = ({ file }: TestResult) => mayChange && (file === undefined ? testsChanged : changed.has(file));
  const missing = notPassed(trial.report, checks.failToPass);
  const problems = [
    failed && whatFailed(failed, { limitMs: limits.verifyMs, report: trial.report }),
    trial.skipped !== null && outOfTime(trial.skipped, limits.verifyMs),
    tampered,
    ...(base ? compareTests({ base: base.report, basePasses: base.passed, now: trial.report, mayGo }) : []),
    missing.length > 0 && unproven(missing, trial.report),
  ].filter((problem) => typeof problem === 'string');
  return problems.length > 0 ? problems.join('; ') : undefined;
}

/** What only the base's source tells of; in a merge each result has passed by its own base. */
async function undeclared(
  evidence: Tried,
  { trial, base }: { trial: Trial; base: BaseTrial },
): Promise<string | undefined> {
  const { report, restored } = trial;
  if (!report || evidence.rules !== undefined) return undefined;
  const problems = await declaredProblems(evidence, { base: base.report, now: report, restored });
  return problems.length > 0 ? problems.join('; ') : undefined;
}

/** The author's tests alone, and what the collectors behind this one go on from. */
async function withoutTheirs(
  evidence: Tried,
  { trial: { report, restored, steps }, usedMs }: { trial: Trial; usedMs: number },
): Promise<WithoutNew | undefined> {
  const trialMs = spent(steps);
  const alone = report ? await withoutNew(evidence, { report, restored, usedMs, trialMs }) : undefined;
  if (alone?.wrong === undefined)
    evidence.passed.acceptance = {
      ...{ report, restored, trialMs },
      without: alone?.without ?? [],
      usedMs: usedMs + (alone?.usedMs ?? 0),
    };
  return alone;
}

/** What replaces a runner's functions, and does not on the base: the project's tests may be about that, so it is told. */
function replacedIn(now: TestReport | null, before: TestReport | null | undefined): { replaced?: string[] } {
  const usual = new Set(before?.changed);
  const replaced = now?.changed?.filter((name) => !usual.has(name)) ?? [];
  return replaced.length > 0 ? { replaced: sample(replaced) } : {};
}

const toldOf = ({ without, notPossible, tests }: WithoutNew) =>
  without.length > 0 || notPossible
    ? { withoutNew: { files: sample(without), filesCount: without.length, tests, ...(notPossible && { notPossible }) } }
    : {};

const unproven = (names: readonly string[], report: TestReport | null): string =>
  report
    ? `must pass now and did not: ${named(names, 5)}`
    : `must pass now: ${named(names, 5)}; but no known test runner ran, and no file of verify.results was written`;

const outOfTime = (command: string, limitMs: number): string =>
  `${quoted(command)} was not run: the ${formatDuration(limitMs)} for verification were used up`;

/** What an honest agent has to know where its own version of these files was not used. */
const judgedNote = (restored: readonly string[]): string =>
  restored.length > 0
    ? `\n(Checked with ${named(restored, 5)} as in the base. A task whose scope.allow names such files is judged by the agent's own.)`
    : '';

/** The same of new files below what is protected. */
const asideNote = (setAside: readonly string[]): string =>
  setAside.length > 0 ? `\n(Checked without ${named(setAside, 5)}, new below what the task protects.)` : '';

const pointersNote = (pointers: readonly string[]): string =>
  pointers.length > 0 ? `\n(Checked with Git LFS pointers in place of the content of ${named(pointers)}.)` : '';

function praise(
  steps: readonly Step[],
  {
    report,
    attempts,
    restored,
    setAside,
    pointers,
    without,
  }: Record<'restored' | 'setAside' | 'pointers' | 'without', readonly string[]> & {
    report: TestReport | null;
    attempts: number;
  },
): string {
  const verified = steps.filter(({ setup }) => !setup);
  const what = verified.length === 1 ? quoted(verified[0]?.command ?? '') : counted(verified.length, 'command');
  const notes = [
    report ? `${counted(countTests(report).passed, 'test')} passed` : undefined,
    attempts > 1 ? `at the ${attempts}. try` : undefined,
    restored.length > 0 ? `with ${named(restored)} as in the base` : undefined,
    setAside.length > 0 ? `without ${named(setAside)}, new below what is protected` : undefined,
    without.length > 0 ? `those of the base also without ${named(without)}` : undefined,
    pointers.length > 0 ? `with Git LFS pointers in place of the content of ${named(pointers)}` : undefined,
  ].filter((note) => note !== undefined);
  const more = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  return `${what} passed in a fresh checkout, in ${formatDuration(spent(steps))}${more}`;
}

const shortened = ({ command, setup, result }: Step) => ({
  command: clip(command, 100),
  ...(setup ? { setup } : {}),
  exitCode: result.exitCode,
  signal: result.signal,
  timedOut: result.timedOut,
  durationMs: result.durationMs,
  ...(result.notFound.length > 0 ? { notFound: sample(result.notFound) } : {}),
});

/** What ran, in an order that does not depend on the machine. */
const linesOf = (report: TestReport): string[] =>
  [...statuses(report)].map(([key, { status }]) => `${key}\0${status}`).sort();
