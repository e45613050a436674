import { readTexts } from '../../adapters/git/worktree/read-texts.ts';
import { treeEntries } from '../../adapters/git/entries.ts';
import { matches } from '../../adapters/glob.ts';
import type { DeclaredTest } from '../../domain/evidence/test-source.ts';
import { testsSentence, type TestReport, type TestResult } from '../../domain/evidence/test-results.ts';
import type { Tried } from '../../ports.ts';
import { testGlobs } from '../../domain/repository/protected-paths.ts';
import { selectsTests } from './selection.ts';
import { authorFiles, goPackage, readAuthorFiles, Reported, reportedFiles, type AuthorSource } from './sources.ts';

/** What came of the commands on the base and on the result, whose commands passed. */
interface Compared {
  base: TestReport | null;
  now: TestReport;
  /** Paths that were put back to what they are in the base. */
  restored: readonly string[];
}

/**
 * What is wrong with tests that only the base's source tells of, a sentence each: the base could not load or build their file, so
 * that no run of it knows their names. Each that is declared there must have passed, unless the source itself skips it. Nothing is
 * asked for where the commands select tests, in a file that they never run, or of a name that is computed.
 */
export async function declaredProblems(evidence: Tried, { base, now, restored }: Compared): Promise<string[]> {
  const { gitDir } = evidence.result;
  const files = await authorFiles(evidence, restored);
  const baseTests = base?.tests ?? [];
  const told = new Set(baseTests.flatMap(({ file, fixture }) => (fixture || file === undefined ? [] : [file])));
  const ran = [...baseTests, ...now.tests];
  const named = new Set(ran.map(({ file }) => file));
  const open = [...reportedFiles(files, ran)].filter(([path]) => !told.has(path));
  if (open.length === 0 || (await selectsTests(evidence))) return [];
  const sources = await readAuthorFiles(gitDir, new Map(open));
  if (sources.some(({ text }) => ONLY.test(text))) return [];
  const broken = await brokenIn(evidence, baseTests);
  // It could be loaded there, and has no tests on this machine.
  const leavesOut = skippedFiles(baseTests);
  const skippedNow = skippedFiles(now.tests);
  const before = new Reported(baseTests);
  const after = new Reported(now.tests);
  const asked = sources.filter((one) => {
    if (ONE_SYSTEM.test(one.path) || leavesOut.has(one.path) || any(before.of(one))) return false;
    return broken(one.path) || named.has(one.path) || any(after.of(one));
  });
  if (asked.length === 0) return [];
  const maySkip = await skipsElsewhere(evidence);
  const missing: string[] = [];
  const skipped: string[] = [];
  for (const one of asked) {
    const mayDo = maySkip || SKIPS.test(one.text);
    if (mayDo && skippedNow.has(one.path)) continue;
    for (const [test, results] of after.of(one)) {
      const how = lostIn(test, { results, now, source: one });
      if (how === 'missing') missing.push(nameOf(test));
      if (how === 'skipped' && !mayDo) skipped.push(nameOf(test));
    }
  }
  return [
    testsSentence('that the base declares', 'not run', missing),
    testsSentence('that the base declares', 'skipped', skipped),
  ].filter((problem) => problem !== undefined);
}

/** Its other tests are not run, or it says itself which are. */
const ONLY = /\bdef load_tests\b|\.only\b|\bf(?:it|describe)\s*\(|\bonly:\s*true/;
/** What decides at run time whether a test is skipped, wherever it stands. */
const SKIPS = /skip(?!ped\b)|SkipTest|xfail|\btodo\b|\bassum(?:e|ing)|Disabled|\bIgnore\b|\bpending\b/i;
/** Built for other systems only, as go takes it by its name. */
const ONE_SYSTEM =
  /_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|netbsd|openbsd|plan9|solaris|wasip1|windows|386|arm|mips\w*|ppc64\w*|riscv64|s390x|wasm|amd64|arm64|loong64|linux)_test\.go$/;

/** By its parts as its source has them. */
export const nameOf = ({ name }: Pick<DeclaredTest, 'name'>): string => name.map((part) => part ?? '…').join(' > ');

const any = (found: ReadonlyMap<DeclaredTest, readonly TestResult[]>): boolean =>
  [...found.values()].some((results) => results.length > 0);

/** Files that were reported as skipped in the place of their tests. */
const skippedFiles = (tests: readonly TestResult[]): Set<string | undefined> =>
  new Set(tests.flatMap(({ file, fixture, status }) => (fixture && status === 'skipped' ? [file] : [])));

function lostIn(
  { name, several, skipped }: DeclaredTest,
  { results, now, source }: { results: readonly TestResult[]; now: TestReport; source: AuthorSource },
): 'missing' | 'skipped' | undefined {
  if (skipped || name.includes(null)) return undefined;
  if (results.length > 0) {
    // A parameter without values is reported as one that is skipped.
    if (several && results.every((one) => /\[NOTSET/.test(one.name))) return undefined;
    return results.every(({ status }) => status === 'skipped') ? 'skipped' : undefined;
  }
  // What stands in the place of a parameter is not in the reported name.
  if (several && name.some((part) => /[%${}]/.test(part ?? ''))) return undefined;
  return name.length > 1 && isInherited(name.at(-1)!, { now, path: source.path }) ? undefined : 'missing';
}

/** Whether a class of tests only lends a test to others, of its file or of another. */
const isInherited = (method: string, { now, path }: { now: TestReport; path: string }): boolean =>
  /\.(?:py|java)$/.test(path) &&
  now.tests.some(
    ({ name, status }) =>
      status === 'passed' &&
      name
        .replace(/[[(].*$/, '')
        .split(/::| > |\./)
        .at(-1) === method,
  );

/** Whether the base could not load a file or build its package, as its own run reported. */
async function brokenIn(
  { result, rules = result.base }: Tried,
  baseTests: readonly TestResult[],
): Promise<(path: string) => boolean> {
  const failed = baseTests.filter(({ fixture, status }) => fixture && status === 'failed');
  const names = new Set(failed.flatMap(({ name, file }) => [file ?? name]));
  if (!failed.some(({ file }) => file === undefined)) return (path) => names.has(path);
  const { entries } = await treeEntries(result.gitDir, rules);
  const modules = await readTexts(
    result.gitDir,
    new Map([...entries].filter(([path, { mode }]) => /(?:^|\/)go\.mod$/.test(path) && mode.startsWith('100'))),
  );
  return (path) => names.has(path) || names.has(goPackage(path, modules) ?? '');
}

/** Whether a file beside the tests, such as `conftest.py`, may skip any of them. */
async function skipsElsewhere({ policy, result, rules = result.base }: Tried): Promise<boolean> {
  const { entries } = await treeEntries(result.gitDir, rules);
  const isBeside = matches(['**/conftest.py', '**/{test,tests,spec,specs,__tests__}/**']);
  const isTest = matches(
    testGlobs(policy.restore).filter((glob) => !glob.endsWith('/**') && !glob.endsWith('/**/*.py')),
  );
  const beside = [...entries].filter(
    ([path, { mode }]) => mode.startsWith('100') && /\.\w+$/.test(path) && isBeside(path) && !isTest(path),
  );
  const texts = await readTexts(result.gitDir, new Map(beside));
  return [...texts.values()].some((text) => SKIPS.test(text));
}
