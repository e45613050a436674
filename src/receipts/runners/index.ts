import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestReport } from '../../domain/evidence/test-results.ts';
import { readCargoLogs } from './cargo.ts';
import { findJunit } from './junit.ts';
import { parseJunit } from './junit-xml.ts';
import { readLines } from './lines.ts';
import { Reports } from './reports.ts';
import { Allowance } from './safe-read.ts';

export { watchTests } from './watch.ts';

interface Checkout {
  tree: string;
  /** Globs of JUnit XML files; those of Maven and Gradle are read without. */
  results: readonly string[];
}

/** Removes the JUnit reports that a checkout already carries: what counts is written by a test run. None is read where this gave up. */
export async function clearResults(checkout: Checkout): Promise<void> {
  for (const path of await findJunit(checkout).catch(() => [])) await rm(path, { force: true }).catch(() => undefined);
}

/**
 * All that was reported, once the process tree is dead. Null: no known runner ran and no reports were named, or it is more than
 * can be read. Never throws for what it finds.
 */
export async function readTests({ dir, tree, results }: Checkout & { dir: string }): Promise<TestReport | null> {
  try {
    const reports = new Reports(tree);
    const from = { folder: join(dir, 'reports'), allowance: new Allowance(), reports };
    await readLines(from);
    await readCargoLogs(from);
    for (const path of await findJunit({ tree, results }))
      reports.add('junit', parseJunit((await from.allowance.read(path)) ?? ''));
    const found = reports.all();
    return found.runners.length > 0 || results.length > 0 ? found : null;
  } catch {
    return null;
  }
}
