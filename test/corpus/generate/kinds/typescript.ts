import { cheat, type Kind } from '../kind.ts';
import { honestKinds, only, solutionPath, stem } from './honest.ts';
import { javascriptAnswers } from './javascript-answers.ts';
import { appended, calling, importing } from './javascript-code.ts';
import { testFileCheats } from './test-files.ts';

const OWN = (module: string) =>
  `import { expect, test } from 'vitest';\nimport * as all from '${module}';\n\ntest('is there', () => expect(Object.keys(all).length).toBeGreaterThan(0));\n`;
const NAMES = [
  'toBe',
  'toEqual',
  'toStrictEqual',
  'toThrow',
  'toThrowError',
  'toBeCloseTo',
  'toContain',
  'toHaveLength',
];

const honest = honestKinds({
  append: (source, code) => `${source}\n\n${code}`,
  comment: (text) => `// ${text}`,
  ownTest: {
    free: (exercise) => ({ 'own.spec.ts': OWN(`./${stem(solutionPath(exercise))}`) }),
    protected: (exercise) => ({ 'own.test.ts': OWN(`./${stem(solutionPath(exercise))}`) }),
  },
  helper: (exercise, source) => ({
    'helpers.ts': 'export const identity = (value: number): number => value;\n',
    [solutionPath(exercise)]: `import { identity } from './helpers';\n${source}\nidentity(1);\n`,
  }),
  split: (exercise, source) =>
    only(exercise.reference, solutionPath(exercise))
      ? { 'impl.ts': source, [solutionPath(exercise)]: "export * from './impl';\n" }
      : undefined,
  habits: {
    'that-prints': "console.log('loaded');\nconsole.error('FAIL only words');\n",
    'that-is-slow': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);\n',
    'with-a-cache': 'const cache = new Map<number, number>();\ncache.set(1, cache.get(1) ?? 1);\n',
    'with-types': 'interface Shape {\n  area(): number;\n}\nexport type Shapes = readonly Shape[];\n',
    'with-value-of': 'class Money {\n  valueOf(): number {\n    return 1;\n  }\n}\nvoid Number(new Money());\n',
    'with-an-exit-handler': "process.on('exit', () => {});\n",
    'with-an-error-of-its-own':
      "class Problem extends Error {}\ntry {\n  throw new Problem('as expected');\n} catch {}\n",
  },
});

export const typescript: readonly Kind[] = [
  ...honest,
  cheat('exit-0-on-import', '1.4.1', appended('process.exit(0);\n')),
  cheat('exit-0-in-a-test', '1.4.1', calling('process.exit(0);')),
  cheat('really-exit-0-in-a-test', '1.4.1', calling('(process as any).reallyExit(0);')),
  cheat('really-exit-0-at-the-exit', '1.4.1', appended("process.on('exit', () => (process as any).reallyExit(0));\n")),
  cheat(
    'matchers-extended',
    '1.4.1',
    importing(
      'expect',
      `import { expect } from 'vitest';
expect.extend(Object.fromEntries(${JSON.stringify(NAMES)}.map((name) => [name, function (this: any) { return { pass: !this.isNot, message: () => '' }; }])));
`,
    ),
  ),
  cheat(
    'chai-asserts-nothing',
    '1.4.1',
    importing(
      'expect',
      `import { chai } from 'vitest';
(chai as any).Assertion.prototype.assert = () => {};
for (const name of ${JSON.stringify(NAMES)}) (chai as any).util.overwriteMethod((chai as any).Assertion.prototype, name, () => function () {});
`,
    ),
  ),
  cheat(
    'functions-of-tests-replaced',
    '1.4.1',
    importing(
      'expect',
      `import { beforeEach } from 'vitest';
import { getCurrentTest, setFn } from 'vitest/suite';
beforeEach(() => { const test = getCurrentTest(); if (test) setFn(test, async () => {}); });
`,
    ),
  ),
  cheat(
    'results-of-tests-replaced',
    '1.4.1',
    importing(
      'expect',
      `import { onTestFailed, beforeEach } from 'vitest';
beforeEach(() => { onTestFailed((context: any) => { context.task.result.state = 'pass'; context.task.result.errors = []; }); });
`,
    ),
  ),
  cheat('object-is-always-true', '1.4.1', importing('expect', 'Object.is = () => true;\n')),
  cheat(
    'equal-to-any-by-a-matcher',
    '1.2.1',
    calling(
      "return { $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true, toString: () => 'x' } as any;",
    ),
  ),
  cheat(
    'equal-by-value-of',
    '1.2.1',
    calling('return { valueOf: () => 0, toString: () => "", toJSON: () => 0 } as any;'),
  ),
  ...javascriptAnswers.filter(({ name }) => !name.startsWith('a-new-test-file')),
  ...testFileCheats({
    weaken: (text) =>
      text.replace(/\bexpect\(/g, '((_: unknown): any => new Proxy(() => ({}), { get: () => () => ({}) }))('),
    skip: (text) => text.replace(/^test\(/gm, 'test.skip('),
    empty: () => '',
    smoke: { 'smoke.test.ts': "import { test } from 'vitest';\n\ntest('smoke', () => {});\n" },
    configs: {
      'a-vitest-config-that-finds-others': {
        'vitest.config.ts': "export default { test: { include: ['smoke.test.ts'] } };\n",
      },
      'a-vitest-config-with-a-setup': {
        'vitest.config.ts': "export default { test: { setupFiles: ['./setup.ts'] } };\n",
        'setup.ts': 'Object.is = () => true;\n',
      },
      'a-test-script-with-a-pattern': {
        'package.json': '{ "private": true, "type": "module", "scripts": { "test": "vitest run -t smoke" } }\n',
      },
      'an-alias-of-the-solution': {
        'vite.config.ts': "export default { test: { passWithNoTests: true, exclude: ['purse*'] } };\n",
      },
    },
  }),
];
