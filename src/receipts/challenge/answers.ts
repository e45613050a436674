import { statuses, type TestReport } from '../../domain/evidence/test-results.ts';
import { Reported } from '../author/sources.ts';
import type { Turnable } from './turnable.ts';

/** A run in which some tests were turned wrong. */
export interface ChallengeRun {
  chosen: ReadonlySet<Turnable>;
  report: TestReport | null;
  /** Every command ended with 0. */
  exitedWell: boolean;
  /** None was cut short, and there was time for all. */
  ended: boolean;
}

/** How the tests of one run answered. */
export interface Answers {
  /** Turned, and failed. */
  failed: Turnable[];
  /** Turned, and passed nevertheless. */
  passed: Turnable[];
  /** Turned, and not reported, or skipped. */
  silent: Turnable[];
  /** As they are, and passed. */
  others: Turnable[];
  /** As they are, and failed. */
  othersFailed: Turnable[];
}

export function answersOf(all: readonly Turnable[], { chosen, report }: ChallengeRun): Answers {
  const found = report ? statuses(report) : new Map<string, never>();
  const reported = new Reported([...found.values()]);
  const answers: Answers = { failed: [], passed: [], silent: [], others: [], othersFailed: [] };
  for (const one of all) {
    const ends = one.keys.map((key) => found.get(key)?.status);
    if (!chosen.has(one)) {
      if (ends.includes('failed')) answers.othersFailed.push(one);
      else if (ends.every((status) => status === 'passed')) answers.others.push(one);
      continue;
    }
    // Of several that are reported in its place one suffices: it may have ended the rest, and may be named by what was turned.
    const now = reported.one(one.at, one.test).map(({ status }) => status);
    if ([...ends, ...now].includes('failed')) answers.failed.push(one);
    else if (ends.every((status) => status === 'passed')) answers.passed.push(one);
    else answers.silent.push(one);
  }
  return answers;
}

/** The turned ones that failed, in the order of the report, before any other did. Where others did, at least one passed before. */
export function failedFirst(all: readonly Turnable[], run: ChallengeRun): Turnable[] {
  const { failed, others, othersFailed } = answersOf(all, run);
  if (othersFailed.length === 0) return failed;
  const order = [...(run.report ? statuses(run.report).keys() : [])];
  const at = (one: Turnable) => Math.min(...one.keys.map((key) => order.indexOf(key)));
  const [passed, until] = [Math.min(...others.map(at)), Math.min(...othersFailed.map(at))];
  return failed.filter((one) => passed < at(one) && at(one) < until);
}

export interface Judged {
  /** Sure to fail, and passed: their result does not come from what they check. */
  fooled: Turnable[];
  /** Passed, and may honestly do so. */
  weak: Turnable[];
  turned: number;
  answered: number;
  silent: number;
  /** As they are, and failed beside turned ones. */
  disturbed: number;
  /** `silenced`: nothing was reported and all is well by the exit code. The others: nobody can tell whether they are evaluated. */
  wrong?: 'silenced' | 'all-weak' | 'all-failed' | 'no-answer';
}

/** So many that pass turned are no accident of one loose test. */
const MANY = 4;

/**
 * What the runs show. Whoever does not evaluate the tests does not know which are turned: n tests that pass in acceptance whatever they
 * check pass unnoticed with a chance of 4^-n, as each has to fail where it is turned, and that three of four are. Where one that is
 * not turned fails, or none answers, a second run turns the others alone. Tests that need each other, share state or are random fail there by themselves, but the
 * first of them passes in the run in which it is not turned; only where not one does, in two runs that both ended, does somebody fail
 * them all because their source was changed. That, and weak answers alone, leave the decision to a person: none is refused for it.
 */
export function judgeRuns(
  all: readonly Turnable[],
  runs: readonly ChallengeRun[],
  excused: ReadonlySet<Turnable> = new Set(),
): Judged {
  const answers = runs.map((run) => answersOf(all, run));
  const sum = (of: (one: Answers) => Turnable[]) => answers.reduce((n, one) => n + of(one).length, 0);
  const passed = answers.flatMap((one) => one.passed);
  const [fooled, weak] = [
    passed.filter((one) => isFooled(one, excused)),
    passed.filter((one) => !isFooled(one, excused)),
  ];
  const turned = runs.reduce((n, { chosen }) => n + chosen.size, 0);
  const answered = sum((one) => one.failed);
  const disturbed = sum((one) => one.othersFailed);
  const judged = { fooled, weak, turned, answered, silent: sum((one) => one.silent), disturbed };
  if (answers.some((one, i) => runs[i]!.exitedWell && isSilenced(one))) return { ...judged, wrong: 'silenced' };
  const wrong = wrongIn({ ...judged, passing: sum((one) => one.others) }, runs);
  return wrong ? { ...judged, wrong } : judged;
}

const isFooled = (one: Turnable, excused: ReadonlySet<Turnable>): boolean => one.sure && !excused.has(one);

function wrongIn(
  { weak, answered, disturbed, turned, passing }: Omit<Judged, 'wrong'> & { passing: number },
  runs: readonly ChallengeRun[],
): Judged['wrong'] {
  if (answered === 0 && weak.length >= MANY) return 'all-weak';
  // A first test of each run may be one that is turned: two are needed.
  const ended = runs.length > 1 && runs.every((run) => run.ended);
  if (ended && passing === 0 && disturbed >= MANY) return 'all-failed';
  return answered === 0 && weak.length < turned ? 'no-answer' : undefined;
}

/** Nothing was reported of tests that surely fail. */
const isSilenced = ({ failed, passed, silent }: Answers): boolean =>
  failed.length + passed.length === 0 && silent.some(({ sure }) => sure);
