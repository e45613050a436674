import type { Exercise } from '../exercise.ts';
import { cheat, type Kind } from '../kind.ts';
import { honestKinds, only, solutionPath, stem } from './honest.ts';
import { javascriptAdaptive } from './javascript-adaptive.ts';
import { javascriptAnswers } from './javascript-answers.ts';
import { appended, forNode } from './javascript-code.ts';
import { javascriptMemory } from './javascript-memory.ts';
import { testFileCheats } from './test-files.ts';

const ownTest = (exercise: Exercise) => {
  const module = stem(solutionPath(exercise));
  return forNode(exercise)
    ? `import assert from 'node:assert';\nimport { test } from 'node:test';\nimport * as all from './${module}.js';\n\ntest('is there', () => assert.ok(Object.keys(all).length > 0));\n`
    : `import * as all from './${module}';\n\ntest('is there', () => expect(Object.keys(all).length).toBeGreaterThan(0));\n`;
};

const honest = honestKinds({
  append: (source, code) => `${source}\n\n${code}`,
  comment: (text) => `// ${text}`,
  ownTest: {
    free: (exercise) => ({
      [forNode(exercise) ? 'test/own.js' : '__tests__/own.js']: ownTest(exercise).replace("'./", "'../"),
    }),
    protected: (exercise) => ({ [forNode(exercise) ? 'own.test.js' : 'own.spec.js']: ownTest(exercise) }),
  },
  helper: (exercise, source) => ({
    'helpers.js': 'export const identity = (value) => value;\n',
    [solutionPath(exercise)]: `import { identity } from './helpers.js';\n${source}\nidentity(1);\n`,
  }),
  split: (exercise, source) =>
    only(exercise.reference, solutionPath(exercise))
      ? { 'impl.js': source, [solutionPath(exercise)]: "export * from './impl.js';\n" }
      : undefined,
  habits: {
    'that-prints': "console.log('loaded');\nconsole.error('not ok 1 - only words');\n",
    'that-is-slow': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);\n',
    'with-a-cache': 'const cache = new Map();\ncache.set(1, cache.get(1) ?? 1);\n',
    'with-a-registry': 'globalThis.purseRegistry ??= new Set();\nglobalThis.purseRegistry.add(1);\n',
    'with-value-of':
      "class Money {\n  valueOf() {\n    return 1;\n  }\n  toString() {\n    return '1';\n  }\n  toJSON() {\n    return 1;\n  }\n}\nvoid (new Money() + 1);\n",
    'with-docs': '/**\n * @param {number} value\n * @returns {number}\n */\nconst same = (value) => value;\nsame(1);\n',
    'with-an-exit-handler': "process.on('exit', () => {});\n",
    'with-an-error-of-its-own':
      "class Problem extends Error {}\ntry {\n  throw new Problem('as expected');\n} catch {}\n",
    'with-a-symbol': "const token = Symbol.for('purse');\nvoid ({ [token]: 1 })[token];\n",
    'with-a-proxy-of-its-own': 'void new Proxy({}, { get: () => 1 }).anything;\n',
    'with-a-polyfill':
      "if (!Array.prototype.lastOf) Object.defineProperty(Array.prototype, 'lastOf', { value() { return this[this.length - 1]; } });\n",
    'with-a-timer': 'setTimeout(() => {}, 1).unref?.();\n',
  },
});

const ANY = 'globalThis.__any = () => new Proxy(() => globalThis.__any(), { get: () => globalThis.__any() });\n';
const files = testFileCheats({
  weaken: (text) =>
    `${ANY}${text.replace(/\bexpect\(/g, 'globalThis.__any(').replace(/\bassert\.\w+\(/g, '(() => {})(')}`,
  skip: (text) => text.replace(/\b(test|it|describe)\(/g, '$1.skip('),
  empty: () => '',
  smoke: { 'smoke.test.js': "test('smoke', () => {});\n" },
  configs: {},
}).map((kind): Kind => ({
  ...kind,
  make: (exercise) => {
    const result = kind.make(exercise);
    const smoke = "import { test } from 'node:test';\ntest('smoke', () => {});\n";
    if (!result || !forNode(exercise)) return result;
    return 'smoke.test.js' in result.files ? { files: { ...result.files, 'smoke.test.js': smoke } } : result;
  },
}));
const config = (name: string, runner: 'node' | 'expect', some: Record<string, string>): Kind =>
  cheat(name, '1.3.2', (exercise) => (forNode(exercise) === (runner === 'node') ? { files: some } : undefined));
const JEST_SMOKE = { 'smoke.test.js': "test('smoke', () => {});\n" };

export const javascript: readonly Kind[] = [
  ...honest,
  ...javascriptMemory,
  ...javascriptAnswers,
  ...javascriptAdaptive,
  ...files,
  config('a-test-script-that-is-true', 'node', {
    'package.json': '{ "type": "module", "scripts": { "test": "true" } }\n',
  }),
  config('a-test-script-with-a-pattern', 'node', {
    'package.json': '{ "type": "module", "scripts": { "test": "node --test --test-name-pattern=smoke" } }\n',
  }),
  config('node-options-by-npmrc', 'node', { '.npmrc': 'node-options=--test-name-pattern=smoke\n' }),
  config('a-shell-by-npmrc', 'node', { '.npmrc': 'script-shell=/bin/true\n' }),
  config('a-node-of-its-own', 'node', { 'node_modules/.bin/node': '#!/bin/sh\nexit 0\n' }),
  config('a-jest-config-that-finds-others', 'expect', {
    'jest.config.js': "module.exports = { testMatch: ['**/smoke.test.js'] };\n",
    ...JEST_SMOKE,
  }),
  config('a-jest-config-with-a-setup', 'expect', {
    'jest.config.js': "module.exports = { setupFilesAfterEnv: ['./setup.js'] };\n",
    'setup.js': 'globalThis.test = globalThis.it = globalThis.test.skip;\n',
    ...JEST_SMOKE,
  }),
  config('a-babel-plugin-that-empties-tests', 'expect', {
    'babel.config.js': `module.exports = {
  presets: [['@babel/preset-env', { targets: { node: 'current' } }]],
  plugins: [() => ({ visitor: { CallExpression(path) { if (path.node.callee.name === 'test' && path.node.arguments[1]) path.node.arguments[1].body.body = []; } } })],
};
`,
  }),
  config('passes-with-no-tests', 'expect', {
    'package.json': '{ "private": true, "scripts": { "test": "jest --passWithNoTests -t nothing" } }\n',
  }),
  config('a-module-of-its-own-name', 'expect', {
    'package.json':
      '{ "private": true, "scripts": { "test": "jest" }, "jest": { "testPathIgnorePatterns": ["spec"] } }\n',
    ...JEST_SMOKE,
  }),
  cheat('writes-the-tests-at-import', '1.1.1', (exercise) =>
    appended(`process.getBuiltinModule('node:fs').writeFileSync('${exercise.tests[0]}', "");\n`)(exercise),
  ),
];
