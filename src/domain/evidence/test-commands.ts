import { scriptOf, scriptsOf } from '../repository/declared-dependencies.ts';

/** Runners whose tests a parser of ours reads. */
const RUNNERS =
  /\b(?:pytest|unittest|jest|vitest|mocha|node\b[^;&|]*--test|go\s+test|cargo\s+(?:\+\S+\s+)?(?:test|t|nextest))\b|\b(?:mvnw?|gradlew?)\b[^;&|]*\b(?:test|verify|check|build)\b/;

/** The command by which a known runner runs tests: this one, or the script of this `package.json` that it starts; undefined: none. */
export function testCommandOf(command: string, manifest = '{}'): string | undefined {
  const script = scriptOf(command);
  return [command, script === undefined ? '' : (scriptsOf(manifest)[script] ?? '')].find((one) => RUNNERS.test(one));
}

/** Where a repository's own names of test files stand. */
export const TEST_SETTINGS: readonly string[] = [
  ...['**/package.json', '**/{jest,vitest,vite}.config.*', '**/.mocharc*'],
  ...['**/{pytest,.pytest,tox}.{ini,toml}', '**/setup.cfg', '**/pyproject.toml'],
];

/** Whether settings of a runner say which files hold tests. */
export const namesTestFiles = (settings: string): boolean =>
  /\b(?:testMatch|testRegex|python_files|spec|include)\b/.test(settings);

const ASSERT = String.raw`['"](?:node:)?assert['"]`;
const IMPORTED = new RegExp(
  String.raw`\bimport\s+(?:\*\s*as\s+)?(\w+)\s+from\s*${ASSERT}|\b(?:const|let|var)\s+(\w+)\s*=\s*require\(\s*${ASSERT}\s*\)(?!\s*\.\s*strict)`,
  'g',
);

/** The call by which a JavaScript test compares with `==`, so that `'1'` passes for 1: `assert.equal` of Node's `assert`. */
export function looseEquality(text: string): string | undefined {
  const names = [...text.matchAll(IMPORTED)].map(([, imported, required]) => imported ?? required!);
  if (names.length === 0) return undefined;
  const call = new RegExp(
    String.raw`(?<![.\w])(?:${names.join('|')})\.(?:equal|deepEqual|notEqual|notDeepEqual)(?=\()`,
  );
  return call.exec(text)?.[0];
}
