import { expect, test } from '@jest/globals';
import { failedOutput } from '../../../src/domain/evidence/failed-output.ts';

const noise = (n: number, word = 'ok') =>
  Array.from({ length: n }, (_, i) => `  ${word} ${i}: ${'.'.repeat(40)}`).join('\n');

test('a short output is told whole, without what a terminal would act on', () => {
  expect(failedOutput('\u001b[31mred\u001b[0m\u0007\r\n\n\n\nend\u200b  \n', 100)).toBe('red\n\nend');
  expect(failedOutput('', 100)).toBe('');
});

test('of a progress bar only its last state is told', () => {
  expect(failedOutput(' 1 %\r 50 %\r100 %\ndone', 100)).toBe('100 %\ndone');
});

test('frames of the runner and of packages are left out', () => {
  const stack =
    'Error: no\n    at mine (/a/b.js:1:2)\n    at x (/a/node_modules/y/z.js:1:1)\n    at node:internal/main:1:1';
  expect(failedOutput(stack, 200)).toBe('Error: no\n    at mine (/a/b.js:1:2)');
});

test.each([
  ['node:test in TAP', 'not ok 12 - adds', '# tests 400\n# pass 399\n# fail 1'],
  ['node:test for people', '✖ failing tests:', ''],
  ['jest', '  ● suite › adds', 'Tests: 1 failed, 400 total'],
  ['a file that jest cannot load', '  ● Test suite failed to run', 'Tests: 400 total'],
  ['vitest', ' FAIL  a.test.ts > suite > adds', ''],
  ['mocha', '  1) suite', ''],
  ['pytest', '=================================== FAILURES ===================================', '1 failed in 3s'],
  ['unittest', 'FAIL: test_adds (test_a.Adds.test_adds)', 'FAILED (failures=1)'],
  ['go test', '--- FAIL: TestAdd (0.00s)', 'FAIL'],
  ['a go build', './a.go:3:9: undefined: x', 'FAIL\tg [build failed]'],
  ['cargo test', '---- tests::adds stdout ----', 'test result: FAILED. 400 passed; 1 failed'],
  ['rustc', 'error[E0425]: cannot find value `x` in this scope', 'error: could not compile `a`'],
  ['tsc', "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.", 'Found 90 errors.'],
  ['gcc', 'a.c:3:5: error: expected expression', 'make: *** [a.o] Error 1'],
  ['eslint', '  3:5  error  x is not defined  no-undef', '✖ 400 problems'],
  ['node', "Error: Cannot find module './nope'", 'Node.js v20'],
  ['python', 'Traceback (most recent call last):', 'ValueError: no'],
  ['npm', 'npm error Missing script: "test"', 'npm error A complete log of this run can be found in: x'],
])(
  'in a long output, the first failure of %s is told from its first line on, and how the output ends',
  (_, first, last) => {
    const what = `${first}\n    what it says, expected and actual`;
    const said = failedOutput([noise(500, 'warning: it failed once'), what, noise(500), last].join('\n'), 2_000);
    expect(said.length).toBeLessThanOrEqual(2_000);
    expect(said.startsWith(`[…]\n${what}\n`)).toBe(true);
    expect(said.trimEnd().endsWith(last || '.')).toBe(true);
  },
);

test('where the failure is near the end, what led to it is told as well', () => {
  const said = failedOutput(`${noise(100)}\nnot ok 3 - adds`, 500);
  expect(said).toMatch(/^\[…\]\n {2}ok 9\d: [^]*\nnot ok 3 - adds$/);
  expect(said.length).toBeGreaterThan(400);
});

test('where no failure can be told, it is begin and end', () => {
  const said = failedOutput(`begin\n${noise(100)}\nend`, 500);
  expect(said).toMatch(/^begin\n[^]*\n\[…\]\n[^]*\nend$/);
  expect(said.length).toBeLessThanOrEqual(500);
});

test('one endless line is cut', () => {
  expect(failedOutput(`${'x'.repeat(1e6)}\nend`, 500)).toMatch(/^x+…\nend$/);
});

test('a test that is to do, or was skipped, is no failure', () => {
  const said = failedOutput(`not ok 1 - later # TODO\n${noise(100)}\nnot ok 2 - adds\n${noise(100)}`, 500);
  expect(said).toContain('not ok 2 - adds');
  expect(said).not.toContain('later');
});
