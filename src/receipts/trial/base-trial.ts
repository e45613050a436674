import type { TestReport } from '../../domain/evidence/test-results.ts';
import type { Tried } from '../../ports.ts';
import { digestOf } from '../canonical.ts';
import { firstFailure, type FirstFailure } from './cannot-start.ts';
import { usualOf, type Usual } from './tampering.ts';
import { isSetUp, passed, tryCommit, type Trial } from './trial.ts';

/** What came of the commands, whatever commit they ran on. */
export interface Outcome {
  /** The setup commands pass there. */
  setUp: boolean;
  /** The commands pass there. */
  passed: boolean;
  /** Null: no known test runner ran, or setup fails there. */
  report: TestReport | null;
}

/** On the base itself: known for all tasks that start there, once one of them was verified. */
export interface BaseTrial extends Outcome {
  /** Null: none failed. */
  failure: FirstFailure | null;
  /** What the commands themselves do to its files, whatever a task may decide about. */
  usual: Usual;
}

export function baseTrial(evidence: Tried): Promise<BaseTrial> {
  const { policy, result } = evidence;
  const { setup, copy, submodules, verify, checks, limits } = policy;
  const { memoryBytes = null, processes } = limits;
  const key = digestOf({
    of: 'usual',
    setup,
    copy,
    submodules,
    verify,
    results: checks.results,
    memoryBytes,
    processes,
  });
  return evidence.ofBase(key, async () => {
    const trial = await tryCommit(evidence, { name: 'base', commit: result.base, all: true, tracked: true });
    await trial.space.keepBuildCache();
    // What was cut short, or could not begin, is no property of the base.
    const ended = trial.steps.every((step) => !step.result.timedOut && step.result.signal === null);
    return {
      value: { ...outcomeOf(trial), failure: firstFailure(trial), usual: usualOf(trial.touched ?? []) },
      keep: ended && trial.skipped === null && isSetUp(trial),
    };
  });
}

export const outcomeOf = ({ steps, skipped, report }: Trial): Outcome => ({
  setUp: isSetUp({ steps }),
  passed: skipped === null && steps.every(passed),
  report,
});
