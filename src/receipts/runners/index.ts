import type { TestReport } from '../../domain/tests.ts';

interface Checkout {
  tree: string;
  /** Globs of JUnit XML files. */
  results: readonly string[];
}

/** What the commands of a trial need in their environment so that every test run of theirs reports to `dir`. */
export async function watchTests(_order: { dir: string; tree: string }): Promise<{
  env: Record<string, string>;
  path: string[];
}> {
  return { env: {}, path: [] };
}

/** Removes what a checkout already says of tests. */
export async function clearResults(_checkout: Checkout): Promise<void> {}

/** What was reported; null where no known runner ran. */
export async function readTests(_order: Checkout & { dir: string }): Promise<TestReport | null> {
  return null;
}
