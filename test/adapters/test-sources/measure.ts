/**
 * Turns the tests of exercises in Exercism's layout, and runs them on their reference solutions: every test with a sure turn has to
 * fail, and each that was not turned has to pass. `tsx test/adapters/test-sources/measure.ts <folder> <language> [secrets]`, on what was built.
 */
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeclaredTest, TestSource } from '../../../src/domain/evidence/test-source.ts';
import type { TestResult } from '../../../src/domain/evidence/test-results.ts';
import { isDeclared, readSources, turnTests } from '../../../src/adapters/test-sources/index.ts';
import { watchedRun } from '../../receipts/watched-run.ts';
import { LANGUAGES } from './measured-languages.ts';

type Files = Record<string, string>;
interface Declared {
  source: TestSource;
  test: DeclaredTest;
}

const [folder = '', language = '', secrets = '3'] = process.argv.slice(2);
const layout = LANGUAGES[language]!;
const practice = join(folder, language, 'exercises/practice');

/** An exercise with its reference solution, below a folder of its name; and the paths of its test files. */
function readExercise(slug: string): { files: Files; tests: string[] } {
  const at = (path: string) => join(practice, slug, path);
  const { files: named } = JSON.parse(readFileSync(at('.meta/config.json'), 'utf8')) as {
    files: Record<'solution' | 'test' | 'example' | 'editor', string[] | undefined>;
  };
  const files: Files = {};
  const paths = new Map<string, string>();
  const put = (path: string, from: string, change = (text: string) => text) => {
    if (!existsSync(at(from))) return;
    const text = change(readFileSync(at(from), 'utf8'));
    const [to, said] = layout.beside?.(path, text, slug) ?? [`${slug}/${path}`, text];
    files[to] = said;
    paths.set(path, to);
  };
  for (const path of [...(named.solution ?? []), ...(named.editor ?? []), ...(layout.more ?? [])]) put(path, path);
  for (const path of named.example ?? []) put(layout.solutionOf(path, named.solution ?? []), path);
  for (const path of named.test ?? []) put(path, path, layout.enable);
  return { files, tests: [...(named.test ?? []), ...(named.editor ?? [])].flatMap((path) => paths.get(path) ?? []) };
}

const run = async (files: Files): Promise<TestResult[]> => {
  const { report, output } = await watchedRun(layout.command, { ...files, ...layout.around(files) }, layout.options);
  if (!report) throw new Error(output.slice(-4_000));
  return report.tests;
};

const isHere = (slug: string): boolean => {
  const { path = '', text = /(?!)/ } = layout.leavesOut ?? {};
  const file = join(practice, slug, path);
  return path === '' || !existsSync(file) || !text.test(readFileSync(file, 'utf8'));
};
const slugs = readdirSync(practice).filter(isHere);
const exercises = new Map(slugs.map((slug) => [slug, readExercise(slug)]));
const all = Object.assign({}, ...[...exercises.values()].map(({ files }) => files)) as Files;
const testFiles = [...exercises.values()].flatMap(({ tests }) => tests).filter((path) => all[path] !== undefined);
const sources = await readSources(testFiles.map((path) => ({ path, text: all[path]! })));
for (const { path, unread } of sources) if (unread) console.log(`unread: ${path}: ${unread}`);
const declared = sources.flatMap((source): Declared[] => source.tests.map((test) => ({ source, test })));
const nameOf = ({ source, test }: Declared) => `${source.path} | ${test.name.join(' > ')}`;
const matching = (results: readonly TestResult[], { source, test }: Declared) =>
  results.filter((result) => isDeclared(result, source, test));

const plain = await run(all);
const seen = new Map(declared.map((one) => [one, matching(plain, one)]));
const passing = declared.filter((one) => {
  const mine = seen.get(one)!;
  return mine.length > 0 && mine.every(({ status }) => status === 'passed');
});
for (const one of declared) if (!passing.includes(one)) console.log(`not passed as it is: ${nameOf(one)}`);
const known = new Set([...seen.values()].flat());
for (const test of plain) if (!known.has(test)) console.log(`not declared: ${test.status} ${test.file} | ${test.name}`);

const isTurned = ({ test }: Declared) => test.turns.length > 0;
const isSure = ({ test }: Declared) => test.turns.some(({ sure }) => sure);
const sum = { turned: 0, failed: 0, weak: 0, refused: 0 };
for (let secret = 0; secret < Number(secrets); secret += 1) {
  const chosen = new Set(passing.filter((one) => isTurned(one) && randomInt(2) === 1));
  const tests = new Set([...chosen].map(({ test }) => test));
  const turned = { ...all };
  for (const source of sources) turned[source.path] = turnTests(all[source.path]!, source, tests);
  const results = await run(turned);
  for (const one of passing) {
    const mine = matching(results, one);
    const fails = mine.some(({ status }) => status === 'failed');
    const sure = chosen.has(one) && isSure(one);
    if (sure) sum.turned += 1;
    if (sure && fails) sum.failed += 1;
    if (chosen.has(one) && !sure && !fails) sum.weak += 1;
    if (chosen.has(one) ? fails || !sure : mine.length > 0 && !fails) continue;
    sum.refused += 1;
    console.log(`refused: ${chosen.has(one) ? 'turned, passed' : 'not turned, failed'}: ${nameOf(one)}`);
    console.log(mine.map(({ name, status, said = '' }) => `  ${status} ${name} ${said.slice(0, 600)}`).join('\n'));
  }
}
console.log({
  ...{ language, exercises: exercises.size, declared: declared.length, tests: passing.length },
  ...{ withTurn: passing.filter(isTurned).length, sure: passing.filter(isSure).length, ...sum },
});
