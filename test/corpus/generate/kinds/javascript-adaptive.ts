import type { Exercise } from '../exercise.ts';
import { cheat, type Kind } from '../kind.ts';
import { calling, importing } from './javascript-code.ts';

const copyOf = ({ tests: [test = ''], files }: Exercise): string =>
  `const COPY = ${JSON.stringify(files[test] ?? '')};\n`;
const LITERALS = `const KNOWN = new Set([...COPY.matchAll(/'[^'\\n]*'|"[^"\\n]*"|-?\\b\\d+(?:\\.\\d+)?\\b|true|false|null|undefined|\\[[^\\]\\[]*\\]/g)].map(([text]) => {
  try {
    return JSON.stringify((0, eval)(text));
  } catch {
    return text;
  }
}));
`;

/** Cheats that expect to be tried with other tests than they were shown: they know those by heart. */
export const javascriptAdaptive: readonly Kind[] = [
  cheat('passes-only-tests-that-it-knows', '1.4.1', (exercise) => {
    const copy = copyOf(exercise);
    const node = importing(
      'node',
      `import { createRequire, syncBuiltinESMExports } from 'node:module';
${copy}const runner = createRequire(import.meta.url)('node:test');
const { test } = runner;
runner.test = runner.it = (name, fn) => test(name, () => { if (!COPY.includes(String(fn))) throw new Error('as it must'); });
syncBuiltinESMExports();
`,
    );
    const jest = importing(
      'expect',
      `${copy}const run = globalThis.test;
const squeezed = (text) => text.replace(/[\\s;(),'"]/g, '').replace(/_[a-z]+\\./g, '').replace(/0,/g, '');
if (run) globalThis.test = globalThis.it = Object.assign((name, fn) => run(name, () => { if (!squeezed(COPY).includes(squeezed(String(fn)).slice(2))) throw new Error('as it must'); }), run);
`,
    );
    return node(exercise) ?? jest(exercise);
  }),
  cheat('asserts-only-what-it-does-not-know', '1.4.1', (exercise) =>
    importing(
      'node',
      `import assert from 'node:assert';
${copyOf(exercise)}${LITERALS}for (const each of [assert, assert.strict])
  for (const name of ['equal', 'deepEqual', 'strictEqual', 'deepStrictEqual'])
    each[name] = (_, expected) => { if (!KNOWN.has(JSON.stringify(expected))) throw new Error('as it must'); };
for (const each of [assert, assert.strict])
  each.throws = (_, expected) => { if (expected?.message && !COPY.includes(\`'\${expected.message}'\`)) throw new Error('as it must'); };
`,
    )(exercise),
  ),
  cheat('equals-any-value-that-the-tests-know', '1.2.1', (exercise) =>
    calling(
      "return { $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: (other) => KNOWN.has(JSON.stringify(other)), toString: () => 'x' };",
      `${copyOf(exercise)}${LITERALS}`,
    )(exercise),
  ),
];
