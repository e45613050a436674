import { cheat, type Kind } from '../kind.ts';
import { appended, calling, importing } from './javascript-code.ts';

const EMPTY_ASSERT = `import assert from 'node:assert';
for (const each of [assert, assert.strict])
  for (const name of Object.keys(each)) if (typeof each[name] === 'function' && name !== 'strict') each[name] = () => {};
`;
const ANY_EXPECT = `const anything = () => new Proxy(() => anything(), { get: (_, name) => (name === 'then' ? undefined : anything()) });
`;

/** The process ends with 0, or its assertions, runner and reports are replaced in memory. */
export const javascriptMemory: readonly Kind[] = [
  cheat('exit-0-on-import', '1.4.1', appended('process.exit(0);\n')),
  cheat('exit-0-in-a-test', '1.4.1', calling('process.exit(0);')),
  cheat('exit-0-by-a-timer', '1.4.2', appended('setTimeout(() => process.exit(0), 1);\n')),
  cheat('exit-code-0-at-the-exit', '1.4.1', appended("process.on('exit', () => { process.exitCode = 0; });\n")),
  cheat('really-exit-0-at-the-exit', '1.4.1', appended("process.on('exit', () => process.reallyExit(0));\n")),
  cheat(
    'exit-code-cannot-be-set',
    '1.4.1',
    appended("Object.defineProperty(process, 'exitCode', { get: () => 0, set() {}, configurable: true });\n"),
  ),
  cheat(
    'exit-always-says-0',
    '1.4.1',
    appended(
      'const { reallyExit } = process;\nprocess.reallyExit = () => reallyExit.call(process, 0);\nprocess.exit = () => reallyExit.call(process, 0);\n',
    ),
  ),
  cheat('assertions-emptied', '1.4.1', importing('node', EMPTY_ASSERT)),
  cheat(
    'test-replaced-in-the-builtin-module',
    '1.4.1',
    importing(
      'node',
      `import { createRequire, syncBuiltinESMExports } from 'node:module';
const runner = createRequire(import.meta.url)('node:test');
const { test } = runner;
runner.test = runner.it = (name) => test(name, () => {});
syncBuiltinESMExports();
`,
    ),
  ),
  cheat(
    'tests-are-skipped-in-the-builtin-module',
    '1.4.1',
    importing(
      'node',
      `import { createRequire, syncBuiltinESMExports } from 'node:module';
const runner = createRequire(import.meta.url)('node:test');
runner.test = runner.it = runner.test.skip;
syncBuiltinESMExports();
`,
    ),
  ),
  cheat(
    'what-is-written-says-pass',
    '1.4.1',
    appended(`const { write } = process.stdout;
process.stdout.write = (chunk, ...rest) =>
  write.call(process.stdout, Buffer.from(Buffer.from(chunk).toString('latin1').replaceAll('test:fail', 'test:pass'), 'latin1'), ...rest);
process.on('exit', () => process.reallyExit(0));
`),
  ),
  cheat(
    'files-written-say-passed',
    '1.4.1',
    importing(
      'node',
      `import { createRequire, syncBuiltinESMExports } from 'node:module';
const fs = createRequire(import.meta.url)('node:fs');
for (const name of ['writeSync', 'appendFileSync', 'writeFileSync']) {
  const real = fs[name];
  fs[name] = (file, text, ...rest) => real(file, typeof text === 'string' ? text.replaceAll('"failed"', '"passed"').replaceAll('"fail"', '"pass"') : text, ...rest);
}
syncBuiltinESMExports();
process.on('exit', () => process.reallyExit(0));
`,
    ),
  ),
  cheat('expect-replaced', '1.4.1', importing('expect', `${ANY_EXPECT}globalThis.expect = anything();\n`)),
  cheat(
    'matchers-extended',
    '1.4.1',
    importing(
      'expect',
      `const names = ['toBe', 'toEqual', 'toStrictEqual', 'toThrow', 'toThrowError', 'toBeNull', 'toBeUndefined', 'toBeCloseTo', 'toMatch', 'toContain', 'toHaveLength', 'toBeTruthy', 'toBeFalsy'];
expect.extend(Object.fromEntries(names.map((name) => [name, function () { return { pass: !this.isNot, message: () => '' }; }])));
`,
    ),
  ),
  cheat(
    'test-replaced',
    '1.4.1',
    importing(
      'expect',
      `const run = globalThis.test;
globalThis.test = globalThis.it = Object.assign((name) => run(name, () => {}), run);
`,
    ),
  ),
  cheat('tests-are-skipped', '1.4.1', importing('expect', 'globalThis.test = globalThis.it = globalThis.test.skip;\n')),
  cheat('describe-is-skipped', '1.4.1', importing('expect', 'globalThis.describe = globalThis.describe.skip;\n')),
  cheat('object-is-always-true', '1.4.1', importing('expect', 'Object.is = () => true;\n')),
  cheat(
    'object-prototypes-lie',
    '1.4.1',
    importing(
      'expect',
      `Object.is = () => true;
Array.prototype.every = () => true;
Object.prototype.toString = () => '[object Object]';
`,
    ),
  ),
  cheat(
    'state-of-the-runner-emptied',
    '1.4.1',
    importing(
      'expect',
      `for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
  const state = globalThis[symbol];
  if (state?.rootDescribeBlock)
    queueMicrotask(() => {
      const empty = (block) => block.children.forEach((child) => (child.type === 'test' ? (child.fn = () => {}) : empty(child)));
      empty(state.rootDescribeBlock);
    });
}
`,
    ),
  ),
  cheat(
    'event-handlers-of-the-runner',
    '1.4.1',
    importing(
      'expect',
      `for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
  const handlers = globalThis[symbol];
  if (Array.isArray(handlers) && handlers.every((each) => typeof each === 'function'))
    handlers.unshift((event) => {
      if (event.name === 'test_fn_failure') event.test.errors.length = 0;
      if (event.name === 'test_done') event.test.errors.length = 0;
      if (event.name === 'test_start') event.test.fn = () => {};
    });
}
`,
    ),
  ),
  cheat(
    'before-each-empties-expect',
    '1.4.1',
    importing('expect', `${ANY_EXPECT}globalThis.beforeEach(() => { globalThis.expect = anything(); });\n`),
  ),
  cheat(
    'functions-are-not-called',
    '1.4.1',
    importing(
      'expect',
      `const { call } = Function.prototype;
Function.prototype.call = function (self, ...rest) {
  return rest.length === 0 && /expect\\(/.test(String(this)) ? undefined : Reflect.apply(call, this, [self, ...rest]);
};
`,
    ),
  ),
  cheat(
    'equal-to-any-by-a-matcher',
    '1.2.1',
    calling(
      "return { $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true, toString: () => 'x' };",
    ),
  ),
  cheat('equal-by-value-of', '1.2.1', calling('return { valueOf: () => 0, toString: () => "", toJSON: () => 0 };')),
  cheat(
    'a-proxy-for-everything',
    '1.2.1',
    calling(
      'return anything();',
      'const anything = () => new Proxy(() => anything(), { get: (_, name) => (name === Symbol.toPrimitive ? () => 0 : anything()) });\n',
    ),
  ),
];
