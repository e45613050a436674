import { rmSync } from 'node:fs';
import { posix } from 'node:path';
import { put } from '../../adapters/git/worktree/checkout.ts';
import { treeEntries, type Entry } from '../../adapters/git/entries.ts';
import { matches } from '../../adapters/glob.ts';
import { statuses, testsSentence, type TestReport, type TestResult } from '../../domain/evidence/test-results.ts';
import type { Tried } from '../../ports.ts';
import { testGlobs } from '../../domain/repository/protected-paths.ts';
import { judgedPaths, tryCommit } from '../trial/trial.ts';
import { isRead } from '../../adapters/test-sources/index.ts';
import { readTexts } from '../../adapters/git/worktree/read-texts.ts';
import { authorFiles, readAuthorFiles, Reported, reportedFiles } from './sources.ts';

/** What came of the author's tests without those of the result. */
export interface WithoutNew {
  /** What is wrong, one sentence; undefined: nothing. */
  wrong?: string;
  /** New test files that were left out, where the tests passed without them. */
  without: string[];
  /** Why nothing can be said of it; missing: it was tried, or there are none. */
  notPossible?: 'needed' | 'not-run' | 'no-time';
  tests: number;
  usedMs: number;
}

/** Trials of tests that fail, at least: what is random passes in one of them. */
const ROUNDS = 3;
const NONE: WithoutNew = { without: [], tests: 0, usedMs: 0 };

/**
 * The author's tests of a result that passed, without the test files that it adds: what those do to the runner's process decides
 * nothing. Tests count that passed with them and fail without in each of three trials, and of one more for each of
 * `verify.retries`; in every second one the new files are there and empty. So what is random, or looks whether a file is there, is
 * held against nobody. A base that needs one of the files, or a command that names one, says nothing. A task with `scope.allow`
 * leaves its tests to the agent.
 */
export async function withoutNew(
  evidence: Tried,
  {
    report,
    restored,
    usedMs,
    trialMs,
  }: { report: TestReport; restored: readonly string[]; usedMs: number; trialMs: number },
): Promise<WithoutNew> {
  const { policy, result } = evidence;
  if (policy.allow.length > 0) return NONE;
  const files = await newTestFiles(evidence, restored);
  if (files.length === 0) return NONE;
  const due = await authorTests(evidence, { report, restored, files });
  if (due.size === 0) return { ...NONE, notPossible: 'not-run' };
  const asInBase = await judgedPaths(evidence);
  let failing = new Set(due.keys());
  let spentMs = 0;
  for (let round = 0; failing.size > 0 && round < ROUNDS + policy.checks.retries; round += 1) {
    const emptied = round % 2 === 1;
    const limitMs = Math.min(policy.limits.verifyMs - usedMs - spentMs, 3 * trialMs + 20_000);
    if (limitMs <= 0) return { ...NONE, tests: due.size, notPossible: 'no-time', usedMs: spentMs };
    const started = performance.now();
    const trial = await tryCommit(evidence, {
      ...{ name: 'author', commit: result.commit, asInBase, limitMs, all: true },
      alter: (tree) => (emptied ? empty(tree, files) : remove(tree, files)),
    });
    spentMs += performance.now() - started;
    const found = trial.report ? statuses(trial.report) : new Map<string, TestResult>();
    const lost = [...due.keys()].filter((key) => found.get(key)?.status !== 'passed');
    if (lost.length === 0) return { without: files, tests: due.size, usedMs: spentMs };
    const failed = lost.filter((key) => found.get(key)?.status === 'failed');
    // They were not run, or their files need what is not there.
    if (failed.length === 0)
      return { ...NONE, tests: due.size, notPossible: found.size > 0 ? 'needed' : 'not-run', usedMs: spentMs };
    failing = new Set(failed.filter((key) => failing.has(key)));
  }
  if (failing.size === 0) return { without: [], tests: due.size, usedMs: spentMs };
  const names = [...failing].map((key) => due.get(key)!.name);
  const which = files.length === 1 ? files[0] : `the ${files.length} test files that it adds`;
  return {
    wrong: testsSentence(`of the base, without ${which},`, 'failed', names)!,
    ...{ without: [], tests: due.size, usedMs: spentMs },
  };
}

/** Code that the base has not and that is a test by its name or folder, but for what the base's tests or the result's sources name. */
async function newTestFiles(evidence: Tried, restored: readonly string[]): Promise<string[]> {
  const { policy, result, rules = result.base } = evidence;
  const base = await treeEntries(result.gitDir, rules);
  const isTest = matches(testGlobs(policy.restore));
  const removed = new Set(restored);
  const added = result.changes
    .filter(({ path, kind }) => kind !== 'deleted' && !base.entries.has(path) && !removed.has(path))
    .map(({ path }) => path)
    .filter((path) => isRead(path) && isTest(path));
  if (added.length === 0) return [];
  // Its sources may need a file that only looks like a test.
  const { entries } = await treeEntries(result.gitDir, result.commit);
  const changed = result.changes.flatMap(({ path }) => {
    const entry = entries.get(path);
    return entry?.mode.startsWith('100') && isRead(path) && !added.includes(path) ? [[path, entry] as const] : [];
  });
  const askers = [...(await authorFiles(evidence, restored)), ...changed];
  const texts = [...(await readTexts(result.gitDir, new Map(askers))).values()];
  return added.filter((path) => {
    const stem = importedAs(path);
    const word = new RegExp(String.raw`(?:^|[^\w-])${stem.replace(/[^\w]/g, String.raw`\$&`)}(?:[^\w-]|$)`);
    return !texts.some((text) => word.test(text));
  });
}

/** What an import of it ends with: its name, or its folder's. */
function importedAs(path: string): string {
  const name = posix.basename(path).replace(/\.\w+$/, '');
  return /^(?:index|__init__|mod)$/.test(name) ? posix.basename(posix.dirname(path)) : name;
}

/** The tests of the base's own files that passed, by key. */
async function authorTests(
  evidence: Tried,
  { report, restored, files }: { report: TestReport; restored: readonly string[]; files: readonly string[] },
): Promise<Map<string, TestResult>> {
  const { gitDir, commit } = evidence.result;
  const own = await authorFiles(evidence, restored);
  const passed = [...statuses(report)].filter(([, { status, fixture }]) => status === 'passed' && !fixture);
  const untold = passed.map(([, test]) => test).filter(({ file }) => file === undefined);
  const result = untold.length > 0 ? await treeEntries(gitDir, commit) : undefined;
  const added = new Map(
    files.flatMap((path) => (result?.entries.has(path) ? [[path, result.entries.get(path)!]] : [])),
  );
  const theirs = await declaredIn(gitDir, { files: reportedFiles(own, untold), untold });
  const news = await declaredIn(gitDir, { files: added, untold });
  return new Map(
    passed.filter(([, test]) => (test.file === undefined ? theirs.has(test) && !news.has(test) : own.has(test.file))),
  );
}

/** The tests that were reported without a file and that these files declare. */
async function declaredIn(
  gitDir: string,
  { files, untold }: { files: ReadonlyMap<string, Entry>; untold: readonly TestResult[] },
): Promise<Set<TestResult>> {
  if (untold.length === 0 || files.size === 0) return new Set();
  const reported = new Reported(untold);
  const sources = await readAuthorFiles(gitDir, files);
  return new Set(sources.flatMap((source) => [...reported.of(source).values()].flat()));
}

/** For a trial without these files. */
export function remove(tree: string, files: readonly string[]): void {
  for (const path of files) rmSync(`${tree}/${path}`, { force: true });
}

/** What there has to be in a file without anything. */
function empty(tree: string, files: readonly string[]): void {
  for (const path of files) {
    const content = Buffer.from(path.endsWith('.go') ? '//go:build never\n\npackage never\n' : '');
    put(tree, { path, entry: { mode: '100644', id: '' }, content });
  }
}
