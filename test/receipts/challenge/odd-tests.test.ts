import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { acceptance } from '../../../src/receipts/kinds/acceptance.ts';
import { challenge } from '../../../src/receipts/challenge/index.ts';
import { TrialLab } from '../trial-lab.ts';

/** Tests of kinds that a challenge cannot do much with: honest work is accepted, and what could not be told is said. */

let lab: TrialLab;
beforeEach(() => {
  lab = new TrialLab();
});
afterEach(() => lab.remove());

const NODE = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { double } from './double.js';
`;
const PYTEST = 'python3 -m pytest -q -p no:cacheprovider';

interface Odd {
  file: string;
  text: (lab: TrialLab) => string;
  verify?: string;
  more?: Record<string, string>;
  evidence: object;
}

const ODD: Record<string, Odd> = {
  'no parser reads them, as they are too large': {
    file: 'a.test.js',
    text: () => `${NODE}test('a', () => assert.equal(double(2), 4));\n// ${'x'.repeat(1_048_600)}\n`,
    evidence: { notPossible: 'nothing-to-turn' },
  },
  'no parser reads their language': {
    file: 'test/a.test.js.sh',
    text: () => '[ "$(node -p "require(\'./double.cjs\').double(2)")" = 4 ]\n',
    verify: 'sh test/a.test.js.sh && node --test',
    more: {
      'double.cjs': 'exports.double = (n) => 2 * n;\n',
      'all.test.js': `${NODE}for (const n of [1, 2]) test('n' + n, () => assert.equal(double(n), n + n));\n`,
    },
    evidence: { notPossible: 'nothing-to-turn' },
  },
  'they are generated while they run': {
    file: 'a.test.js',
    text: () => `${NODE}for (const n of [1, 2, 3]) test(\`doubles \${n}\`, () => assert.equal(double(n), 2 * n));\n`,
    evidence: { notPossible: 'nothing-to-turn' },
  },
  'they compare with a file': {
    file: 'a.test.js',
    text: () =>
      `${NODE}import { readFileSync } from 'node:fs';\ntest('a', () => assert.deepEqual([double(2)], JSON.parse(readFileSync('a.snap', 'utf8'))));\n`,
    more: { 'a.snap': '[4]\n' },
    evidence: { turned: 1, answered: 1 },
  },
  'they write the snapshot that they miss': {
    file: 'a.test.js',
    text: () =>
      `${NODE}import { existsSync, readFileSync, writeFileSync } from 'node:fs';
test('a', () => {
  if (!existsSync('a.snap')) writeFileSync('a.snap', String(double(2)));
  assert.equal(String(double(2)), readFileSync('a.snap', 'utf8'));
});\n`,
    evidence: { turned: 1, answered: 1 },
  },
  'they are properties of random values': {
    file: 'a.test.js',
    text: () =>
      `${NODE}const forAll = (check) => { for (let i = 0; i < 50; i += 1) check(Math.floor(Math.random() * 100)); };
test('adds', () => forAll((n) => assert.equal(double(n), n + n)));
test('is even', () => forAll((n) => { assert.ok(double(n) % 2 === 0); }));\n`,
    evidence: { notPossible: 'nothing-to-turn' },
  },
  'they are examples in documentation': {
    file: 'test_a.py',
    text: () => 'def triple(n):\n    """\n    >>> triple(2)\n    6\n    """\n    return 3 * n\n',
    verify: `${PYTEST} --doctest-modules`,
    evidence: { notPossible: 'nothing-to-turn' },
  },
  'they only work in order': {
    file: 'a.test.js',
    text: () =>
      `${NODE}let seen = 0;\n${[0, 1, 2, 3, 4].map((n) => `test('t${n}', () => { assert.equal(seen, ${n}); seen += 1; assert.equal(double(seen), ${2 * n + 2}); });`).join('\n')}\n`,
    evidence: {},
  },
  'each meets what the one before it left': {
    file: 'a.test.js',
    text: () =>
      `${NODE}let on = false;\n${[0, 1, 2, 3].map((n) => `test('t${n}', () => { if (double(2) !== 4) throw new Error('not yet'); assert.equal(on, ${n % 2 === 1}); on = !on; });`).join('\n')}\n`,
    evidence: {},
  },
  'one fails now and then': {
    file: 'a.test.js',
    text: ({ dir }) =>
      `${NODE}import { appendFileSync, readFileSync } from 'node:fs';
test('sometimes', () => {
  appendFileSync('${dir}/runs', '.');
  assert.notEqual(readFileSync('${dir}/runs', 'utf8').length % 3, 0);
});
test('always', () => assert.equal(double(2), 4));
test('as well', () => assert.equal(double(3), 6));\n`,
    evidence: {},
  },
};

test.each(Object.entries(ODD))(
  '%s',
  async (_name, { file, text, verify = 'node --test', more = {}, evidence }) => {
    const files = { 'package.json': '{ "type": "module" }\n', [file]: text(lab), ...more };
    const base = lab.commit({ ...files, 'double.js': 'export const double = (n) => n;\n' });
    const commit = lab.commit({ 'double.js': 'export const double = (n) => 2 * n;\n' });
    const tried = lab.evidence({ base, commit, policy: { verify: [verify] } });
    expect(await acceptance.collect(tried)).toMatchObject({ ok: true });
    const challenged = await challenge.collect(tried);
    expect(challenged).toMatchObject({ ok: true, evidence });
    expect(challenged).not.toHaveProperty('shows');
  },
  120_000,
);
