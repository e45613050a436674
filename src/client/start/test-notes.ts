import { posix } from 'node:path';
import { reading, type PathSource } from '../../adapters/git/source/source.ts';
import { readTexts } from '../../adapters/git/worktree/read-texts.ts';
import { matches } from '../../adapters/glob.ts';
import { readSources, testFiles } from '../../adapters/test-sources/index.ts';
import { looseEquality, namesTestFiles, TEST_SETTINGS, testCommandOf } from '../../domain/evidence/test-commands.ts';
import { testGlobs } from '../../domain/repository/protected-paths.ts';
import { mergePolicy } from '../../domain/repository/repo-policy.ts';
import { commandsOf, type Base, type TaskOnBase } from './task-on-base.ts';

/** Of more files nothing is said: who starts a task does not wait for them. */
const MAX_FILES = 200;
const READ_MS = 3_000;

/** What the tests that a task's commands run on its base cannot show, a sentence each. Reads them, and runs nothing. */
export async function testNotes(source: PathSource, { at, task, file }: TaskOnBase): Promise<string[]> {
  const policy = mergePolicy(task, file);
  const testing = await Promise.all(
    commandsOf(task, file).map(async ({ command, folder }) => {
      const manifest = await at.read(folder === undefined ? 'package.json' : `${folder}/package.json`);
      const runs = testCommandOf(command, manifest);
      return runs === undefined ? [] : [{ command, named: pathsNamed(runs, folder) }];
    }),
  );
  const command = testing.flat()[0]?.command;
  if (command === undefined) return [];
  const named = testing.flat().flatMap((one) => one.named);
  const isTest = matches(testGlobs(policy.restore));
  const files = testFiles(
    at.tree.entries,
    (path) => isTest(path) || named.some((one) => path === one || path.startsWith(`${one}/`)),
  );
  if (files.size > MAX_FILES) return [];
  const { gitDir, as } = reading(source);
  const texts = await readTexts(gitDir, files, as);
  const sources = await readSources(
    [...texts].map(([path, text]) => ({ path, text })),
    { signal: AbortSignal.timeout(READ_MS) },
  );
  const tests = sources.flatMap((one) => one.tests);
  const turnable = tests.filter(({ turns }) => turns.length > 0);
  const isWhole = texts.size === files.size && sources.every(({ unread }) => unread === undefined);
  const notes: string[] = [];
  const isBare = isWhole && policy.checks.heldOut.length === 0;
  if (isBare && tests.length === 0 && !(await hasOwnNames(source, at)))
    notes.push(
      `\`${command}\` has no test on the base, so only tests that the agent adds are run: commit one, or add verify.heldOut`,
    );
  else if (isBare && tests.length > 0 && turnable.length === 0 && policy.checks.challenge !== 'off')
    notes.push(
      `no test on the base compares with a value, so \`challenge\` can turn none wrong, and code that deceives \`${command}\` may pass: add one that does, or verify.heldOut`,
    );
  const loose = [...texts].flatMap(([path, text]) => {
    const call = /\.[mc]?[jt]sx?$/.test(path) ? looseEquality(text) : undefined;
    return call === undefined
      ? []
      : [`${path} compares by == (${call}), so '1' passes for 1: node:assert/strict is exact`];
  });
  return [...notes, ...loose.slice(0, 1)];
}

/** What a command names of its folder, from the repository's top. */
const pathsNamed = (command: string, folder = '.'): string[] =>
  command
    .split(/[\s'"]+/)
    .map((word) => posix.join(folder, word.split('::', 1)[0] ?? '').replace(/\/$/, ''))
    .filter((path) => path !== '.' && path !== '');

/** The base's runners are told which files hold tests, by other names than usual. */
async function hasOwnNames(source: PathSource, { tree }: Base): Promise<boolean> {
  const isSettings = matches(TEST_SETTINGS);
  const files = [...tree.entries].filter(([path, { mode }]) => mode.startsWith('100') && isSettings(path));
  const { gitDir, as } = reading(source);
  return [...(await readTexts(gitDir, new Map(files), as)).values()].some(namesTestFiles);
}
