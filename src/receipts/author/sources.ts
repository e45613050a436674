import { posix } from 'node:path';
import { readTexts } from '../../adapters/git/worktree/read-texts.ts';
import { treeEntries, type Entry } from '../../adapters/git/entries.ts';
import { matches } from '../../adapters/glob.ts';
import type { DeclaredTest, TestSource } from '../../domain/evidence/test-source.ts';
import type { TestResult } from '../../domain/evidence/test-results.ts';
import type { Tried } from '../../ports.ts';
import { isDeclared, readSources, testFiles } from '../../adapters/test-sources/index.ts';
import { testGlobs } from '../../domain/repository/protected-paths.ts';

/** A test file that the agent has no say in, as the base has it. */
export interface AuthorSource {
  path: string;
  text: string;
  entry: Entry;
  source: TestSource;
}

/** Pairs of a reported and a declared test that are compared where a runner tells no files. */
const MAX_PAIRS = 4_000_000;

/** Languages whose runners tell no file; a file of Rust's may hold tests wherever it lies. */
const UNTOLD = /\.(?:go|rs|java)$/;

/** Files of the base with tests, as far as their names tell, that the result leaves as they are there or that were put back. */
export async function authorFiles(
  { policy, result, rules = result.base }: Pick<Tried, 'policy' | 'result' | 'rules'>,
  restored: readonly string[],
): Promise<Map<string, Entry>> {
  const { entries } = await treeEntries(result.gitDir, rules);
  const files = testFiles(entries, matches(testGlobs(policy.restore)));
  const back = new Set([...restored, ...(result.own?.restored ?? [])]);
  const changed = new Set(result.changes.map(({ path }) => path).filter((path) => !back.has(path)));
  return new Map([...files].filter(([path]) => !changed.has(path)));
}

/** The files that a report may have tests of: by name, or by a runner that tells no files. */
export function reportedFiles(files: ReadonlyMap<string, Entry>, tests: readonly TestResult[]): Map<string, Entry> {
  const told = new Set(tests.flatMap(({ file }) => (file === undefined ? [] : [file])));
  const untold = tests.some(({ file }) => file === undefined);
  return new Map([...files].filter(([path]) => told.has(path) || (untold && UNTOLD.test(path))));
}

/** What these files declare; of too many, the first. Those that are no text are left out. */
export async function readAuthorFiles(gitDir: string, files: ReadonlyMap<string, Entry>): Promise<AuthorSource[]> {
  const texts = await readTexts(gitDir, files);
  const read = await readSources([...texts].map(([path, text]) => ({ path, text })));
  return read.flatMap((source) => {
    const text = texts.get(source.path);
    const entry = files.get(source.path);
    return text !== undefined && entry ? [{ path: source.path, text, entry, source }] : [];
  });
}

/** The tests of a report by where they may have been declared. */
export class Reported {
  readonly #byFile = new Map<string | undefined, TestResult[]>();

  constructor(tests: readonly TestResult[]) {
    for (const test of tests) {
      if (test.fixture) continue;
      const same = this.#byFile.get(test.file);
      if (same) same.push(test);
      else this.#byFile.set(test.file, [test]);
    }
  }

  /** Those that were reported for what a file declares. Empty as well where there are too many to be compared. */
  of(at: Pick<AuthorSource, 'path' | 'source'>): Map<DeclaredTest, TestResult[]> {
    const { tests } = at.source;
    const pairs = this.#near(at.path).length * tests.length;
    return new Map(pairs <= MAX_PAIRS ? tests.map((test) => [test, this.one(at, test)]) : []);
  }

  one({ path, source }: Pick<AuthorSource, 'path' | 'source'>, test: DeclaredTest): TestResult[] {
    return this.#near(path).filter((result) => isDeclared(result, source, test));
  }

  #near(path: string): TestResult[] {
    return [path, undefined].flatMap((file) => this.#byFile.get(file) ?? []);
  }
}

/** The folder's package as Go names it, for the module files of the base. */
export function goPackage(path: string, modules: ReadonlyMap<string, string>): string | undefined {
  for (let dir = posix.dirname(path); ; dir = posix.dirname(dir)) {
    const name = /^module\s+"?([^\s"]+)/m.exec(modules.get(posix.join(dir, 'go.mod')) ?? '')?.[1];
    if (name !== undefined) return posix.join(name, posix.relative(dir, posix.dirname(path)));
    if (dir === '.') return undefined;
  }
}
