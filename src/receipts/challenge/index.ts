import { put } from '../../adapters/git/worktree/checkout.ts';
import { treeEntries } from '../../adapters/git/entries.ts';
import type { PassedTrials } from '../../domain/evidence/passed-trials.ts';
import { statuses } from '../../domain/evidence/test-results.ts';
import type { ReceiptCollector, Tried } from '../../ports.ts';
import { authorFiles, readAuthorFiles, reportedFiles } from '../author/sources.ts';
import { remove } from '../author/without-new.ts';
import { baseTrial } from '../trial/base-trial.ts';
import { judgedPaths, passed, spent, tryCommit } from '../trial/trial.ts';
import { answersOf, failedFirst, judgeRuns, type ChallengeRun } from './answers.ts';
import { findingOf, rejects, type Challenged } from './finding.ts';
import { challengeHeldOut } from './held-out.ts';
import { chooseTurned, shuffled, turnablesOf, turnedFiles, turnedLimitMs, type Turnable } from './turnable.ts';

/**
 * The author's tests once more, in a fresh checkout, the expectations of a random part of them turned wrong: exactly those must
 * fail. Whoever replaced assertions, the runner or equality, or forges the report, does not know which they are. The same for
 * held-out checks that are test files. See {@link judgeRuns} for what follows from which answers.
 */
export const challenge: ReceiptCollector<Tried> = {
  kind: 'challenge',
  async collect(evidence) {
    const { policy, passed: before } = evidence;
    const accepted = before.acceptance?.report ? before.acceptance : undefined;
    if (!accepted && !before.heldOut?.reports.some((report) => report !== null)) return undefined;
    if (policy.checks.challenge === 'off')
      return {
        ok: true,
        summary: 'no test was turned wrong: verify.challenge is off',
        evidence: { notPossible: 'off' },
      };
    const own = accepted && (await challengeTests(evidence, accepted));
    const unseen = own && rejects(own) ? undefined : await challengeHeldOut(evidence);
    return findingOf(own, unseen);
  },
};

type Accepted = NonNullable<PassedTrials['acceptance']>;

async function challengeTests(evidence: Tried, accepted: Accepted): Promise<Challenged> {
  const { report, restored, trialMs } = accepted;
  if (!report || report.runners.length === 0) return { notPossible: 'no-known-runner' };
  const files = reportedFiles(await authorFiles(evidence, restored), report.tests);
  // Of more than can be read, nobody knows which are.
  const sources = await readAuthorFiles(evidence.result.gitDir, new Map(shuffled([...files])));
  const all = turnablesOf(sources, report);
  if (all.length === 0) {
    const unread = sources.length > 0 && sources.every(({ source }) => source.unread !== undefined);
    return { notPossible: unread ? 'not-readable' : 'nothing-to-turn' };
  }
  const leftMs = evidence.policy.limits.verifyMs - accepted.usedMs;
  if (leftMs <= 0) return { notPossible: 'no-time' };
  const first = await runTurned(evidence, {
    all,
    chosen: chooseTurned(all),
    accepted,
    limitMs: turnedLimitMs(leftMs, trialMs),
  });
  const runs = [first.run];
  if (needsSecond(all, first.run)) {
    const rest = new Set(all.filter((one) => !first.run.chosen.has(one)));
    const left = leftMs - first.usedMs;
    if (rest.size > 0 && left > 0)
      runs.push(
        (await runTurned(evidence, { all, chosen: rest, accepted, limitMs: turnedLimitMs(left, trialMs) })).run,
      );
  }
  const judged = judgeRuns(all, runs);
  if (judged.fooled.length === 0) return judged;
  const loose = await sameOnBase(evidence, judged.fooled);
  const fooled = judged.fooled.filter((one) => !loose.has(one));
  const lucky = await failAgain(evidence, { all, fooled, accepted, limitMs: turnedLimitMs(leftMs, trialMs) });
  return judgeRuns(all, runs, new Set([...loose, ...lucky]));
}

/** So many tests that pass turned do not all owe it to luck. */
const MANY = 4;
const AGAIN = 3;

/**
 * A test that fails now and then passes as often once it is turned, and one that goes on from another's state may meet what it is
 * turned to. Of a few that passed turned, those that fail in one of three more runs, in which they alone are turned, and nothing else
 * fails before them: whoever leaves its work undone fails the others as well, where it does not fool them all.
 */
async function failAgain(
  evidence: Tried,
  { fooled, ...how }: { all: readonly Turnable[]; fooled: readonly Turnable[]; accepted: Accepted; limitMs: number },
): Promise<Turnable[]> {
  const lucky = new Set<Turnable>();
  for (let tries = 0; tries < AGAIN && fooled.length < MANY && lucky.size < fooled.length; tries += 1) {
    const chosen = new Set(fooled.filter((one) => !lucky.has(one)));
    const { run } = await runTurned(evidence, { ...how, chosen });
    for (const one of failedFirst(how.all, run)) lucky.add(one);
  }
  return [...lucky];
}

function needsSecond(all: readonly Turnable[], run: ChallengeRun): boolean {
  const { failed, passed: fooled, othersFailed } = answersOf(all, run);
  if (fooled.some(({ sure }) => sure)) return false;
  return othersFailed.length > 0 || failed.length === 0;
}

async function runTurned(
  evidence: Tried,
  {
    all,
    chosen,
    accepted,
    limitMs,
    commit = evidence.result.commit,
  }: {
    all: readonly Turnable[];
    chosen: ReadonlySet<Turnable>;
    accepted?: { without: readonly string[] };
    limitMs: number;
    commit?: string;
  },
): Promise<{ run: ChallengeRun; usedMs: number }> {
  const { result, rules = result.base } = evidence;
  const { entries } = await treeEntries(result.gitDir, rules);
  const files = turnedFiles(all, chosen);
  const trial = await tryCommit(evidence, {
    ...{ name: 'challenge', commit, limitMs, all: true },
    ...(accepted ? { asInBase: await judgedPaths(evidence) } : {}),
    alter: (tree) => {
      remove(tree, accepted?.without ?? []);
      for (const [path, text] of files) put(tree, { path, entry: entries.get(path)!, content: Buffer.from(text) });
    },
  });
  const { report, steps, skipped } = trial;
  const ended = skipped === null && steps.every(({ result: { timedOut } }) => !timedOut);
  return { run: { chosen, report, ended, exitedWell: ended && steps.every(passed) }, usedMs: spent(steps) };
}

/** Those that pass turned on the base as well, without anything of the agent's: their source was read wrongly, or they are loose. */
async function sameOnBase(evidence: Tried, fooled: readonly Turnable[]): Promise<Set<Turnable>> {
  const { report } = await baseTrial(evidence);
  const before = report ? statuses(report) : undefined;
  const known = fooled.filter(({ keys }) => keys.every((key) => before?.get(key)?.status === 'passed'));
  if (known.length === 0) return new Set();
  const { result, rules = result.base } = evidence;
  const { verifyMs: limitMs } = evidence.policy.limits;
  const { run } = await runTurned(evidence, { all: known, chosen: new Set(known), commit: rules, limitMs });
  return new Set(answersOf(known, run).passed);
}
