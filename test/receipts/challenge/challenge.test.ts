import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Policy } from '../../../src/domain/repository/repo-policy.ts';
import type { HeldOut } from '../../../src/domain/task/schema.ts';
import type { Evidence } from '../../../src/ports.ts';
import { acceptance } from '../../../src/receipts/kinds/acceptance.ts';
import { challenge } from '../../../src/receipts/challenge/index.ts';
import { heldOut } from '../../../src/receipts/kinds/held-out.ts';
import { TrialLab } from '../trial-lab.ts';

let lab: TrialLab;
let base: string;

const TESTS = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { double } from '../double.js';

test('doubles two', () => assert.equal(double(2), 4));
test('doubles three', () => assert.equal(double(3), 6));
test('doubles nothing', () => {
  assert.deepEqual([double(0)], [0]);
});
test('refuses words', () => assert.throws(() => double('a'), TypeError));
`;
const GOOD = "export const double = (n) => { if (typeof n !== 'number') throw new TypeError('no'); return 2 * n; };\n";
const EMPTIES = `import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
for (const name of ['equal', 'deepEqual', 'throws']) assert[name] = () => {};
syncBuiltinESMExports();
export const double = () => 0;
`;

beforeEach(() => {
  lab = new TrialLab();
  base = lab.commit({
    'package.json': '{ "type": "module" }\n',
    'double.js': 'export const double = (n) => n;\n',
    'test/double.test.js': TESTS,
  });
});
afterEach(() => lab.remove());

async function tried(files: Record<string, string | null>, policy: Partial<Policy> = {}) {
  const evidence = lab.evidence({ base, commit: lab.commit(files), policy: { verify: ['node --test'], ...policy } });
  const accepted = await acceptance.collect(evidence);
  const unseen = await heldOut.collect(evidence);
  return { accepted, unseen, challenged: await challenge.collect(evidence), evidence };
}
const checksOf = (more: Partial<Evidence['policy']['checks']>): Partial<Policy> => {
  const { policy } = lab.evidence({ base, commit: base, policy: {} });
  return { checks: { ...policy.checks, ...more } };
};

test('honest work: what was turned failed, and nothing else', async () => {
  const { accepted, challenged } = await tried({ 'double.js': GOOD });
  expect(accepted).toMatchObject({ ok: true });
  expect(challenged).toMatchObject({ ok: true, evidence: { silent: 0, disturbed: 0 } });
  const { turned, answered } = challenged!.evidence as { turned: number; answered: number };
  expect(turned).toBeGreaterThan(0);
  expect(answered).toBe(turned);
  expect(challenged).not.toHaveProperty('shows');
});

test('code that empties the assertions', async () => {
  const { accepted, challenged } = await tried({ 'double.js': EMPTIES });
  expect(accepted).toMatchObject({ ok: true });
  expect(challenged).toMatchObject({
    ok: false,
    summary: expect.stringMatching(
      /passed although (its|their) expectations? (was|were) turned wrong: (its result does|their results do) not come from what/,
    ),
  });
});

test('a result that is not accepted is not challenged, nor one without a known runner', async () => {
  expect((await tried({ 'double.js': '' })).challenged).toBeUndefined();
  expect((await tried({ 'double.js': GOOD }, { verify: ['true'] })).challenged).toBeUndefined();
});

test('off by the word of its owner, which is said', async () => {
  const { challenged } = await tried({ 'double.js': EMPTIES }, checksOf({ challenge: 'off' }));
  expect(challenged).toMatchObject({ ok: true, evidence: { notPossible: 'off' } });
});

test('a test file that the task lets be changed, and was, is not turned', async () => {
  const { challenged } = await tried(
    { 'double.js': GOOD, 'test/double.test.js': TESTS.replace('doubles two', 'doubles it') },
    { allow: [['**']] },
  );
  expect(challenged).toMatchObject({ ok: true, evidence: { notPossible: 'nothing-to-turn' } });
});

test('tests that pass turned without the change as well are weak', async () => {
  // Equal to everything, on the base already.
  base = lab.commit({
    'double.js': `${GOOD}export const any = () => 1;\n`,
    'test/any.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
assert.equal = () => {};
test('any', () => { assert.equal(1, 1); });
`,
    'test/double.test.js': null,
  });
  const { challenged } = await tried({ 'other.js': '\n' });
  expect(challenged).toMatchObject({ ok: true, evidence: { weak: ['any'], answered: 0 } });
});

test('no time is left: nobody can tell', async () => {
  const { evidence } = await tried({ 'double.js': GOOD });
  evidence.passed.acceptance!.usedMs = evidence.policy.limits.verifyMs;
  expect(await challenge.collect(evidence)).toMatchObject({ ok: true, evidence: { notPossible: 'no-time' } });
});

describe('checks that no agent sees', () => {
  const withCheck = (check: string, files: Record<string, string> = {}): Partial<Policy> => {
    mkdirSync(lab.at('held-out/folder'), { recursive: true });
    for (const [path, text] of Object.entries({ 'check.sh': check, ...files }))
      writeFileSync(lab.at(`held-out/folder/${path}`), text);
    const heldOut: HeldOut[] = [{ path: 'folder' }];
    return { ...checksOf({ heldOut }), verify: [] };
  };
  const UNSEEN = TESTS.replace('../double.js', 'DOUBLE').replaceAll('doubles', 'unseen doubles');
  const RUN =
    'sed "s#DOUBLE#$PWD/double.js#" "$HELD_OUT/unseen.test.mjs" > "$TMPDIR/unseen.test.mjs"; node --test "$TMPDIR/unseen.test.mjs"\n';

  test('a folder with a test file: emptied assertions fall', async () => {
    const policy = withCheck(RUN, { 'unseen.test.mjs': UNSEEN });
    const { unseen, challenged } = await tried({ 'double.js': EMPTIES }, policy);
    expect(unseen).toMatchObject({ ok: true });
    expect(challenged).toMatchObject({ ok: false, summary: expect.stringContaining('cannot see passed although') });
    expect(JSON.stringify(challenged)).not.toContain('unseen doubles');
  });

  test('and honest work stands', async () => {
    const { challenged } = await tried({ 'double.js': GOOD }, withCheck(RUN, { 'unseen.test.mjs': UNSEEN }));
    expect(challenged).toMatchObject({ ok: true, evidence: { heldOut: { checks: 1, passed: 0 } } });
  });

  test('a test file that its check does not run says nothing', async () => {
    const { challenged } = await tried(
      { 'double.js': GOOD },
      withCheck(
        'echo "import { test } from \'node:test\'; test(\'one\', () => {});" > "$TMPDIR/a.test.mjs"; node --test "$TMPDIR/a.test.mjs"',
        {
          'unseen.test.mjs': UNSEEN,
        },
      ),
    );
    expect(challenged).toMatchObject({ ok: true, evidence: { heldOut: { notPossible: 'nothing-to-turn' } } });
  });
});
