import { scriptOf, scriptsOf } from '../repository/declared-dependencies.ts';

/** Runners whose tests a parser of ours reads. */
const RUNNERS =
  /\b(?:pytest|unittest|jest|vitest|mocha|node\b[^;&|]*--test|go\s+test|cargo\s+(?:\+\S+\s+)?(?:test|t|nextest))\b|\b(?:mvnw?|gradlew?)\b[^;&|]*\b(?:test|verify|check|build)\b/;

/** Whether a command runs tests by a known runner, itself or by a script of this `package.json`. */
export function runsTests(command: string, manifest = '{}'): boolean {
  const script = scriptOf(command);
  return RUNNERS.test(command) || (script !== undefined && RUNNERS.test(scriptsOf(manifest)[script] ?? ''));
}

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
