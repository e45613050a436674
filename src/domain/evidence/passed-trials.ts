import type { TestReport } from './test-results.ts';

/** Trials of a result that was accepted; missing: it was not, or there was none. */
export interface PassedTrials {
  acceptance?: {
    report: TestReport | null;
    /** Paths that were put back to what they are in the base. */
    restored: readonly string[];
    /** New test files that the result also passes without. */
    without: readonly string[];
    /** Milliseconds: of the trial, and of all of `limits.verify` that was used. */
    trialMs: number;
    usedMs: number;
  };
  heldOut?: {
    /** In the order of the checks; null: no known test runner ran. */
    reports: (TestReport | null)[];
    trialMs: number;
  };
}
