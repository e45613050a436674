import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { control } from '../../../src/receipts/kinds/control.ts';
import { TrialLab } from '../trial-lab.ts';

let lab: TrialLab;
let base: string;

beforeEach(() => {
  lab = new TrialLab();
  base = lab.commit({ 'value.txt': 'wrong\n', 'test/check.sh': 'grep -q right value.txt\n' });
});
afterEach(() => lab.remove());

const controlled = (
  files: Record<string, string | null>,
  { verify = ['for t in test/*.sh; do sh $t || exit; done'], on = true } = {},
) => {
  const commit = lab.commit(files);
  const { checks } = lab.evidence({ base, commit, policy: {} }).policy;
  return control.collect(lab.evidence({ base, commit, policy: { verify, checks: { ...checks, control: on } } }));
};

test('an acceptance that fails without the change proves something', async () => {
  expect(await controlled({ 'value.txt': 'right\n' })).toMatchObject({
    ok: true,
    evidence: { base: 'FAILED', reverted: 'FAILED' },
  });
});

test('one that passes on the base proves nothing', async () => {
  expect(await controlled({ 'value.txt': 'right\n' }, { verify: ['true'] })).toMatchObject({
    ok: false,
    summary: expect.stringMatching(/passes also on the base/),
  });
});

test('nor does one that the agent’s tests alone make pass', async () => {
  const finding = await controlled({ 'value.txt': 'right\n', 'test/check.sh': 'exit 0\n' });
  expect(finding).toMatchObject({
    ok: false,
    summary: expect.stringMatching(/also on the base with the agent's tests/),
    evidence: { base: 'FAILED', reverted: 'PASSED', agentsTests: ['test/check.sh'] },
  });
});

test('is not asked for, or there is nothing to try', async () => {
  expect(await controlled({ a: 'a' }, { on: false })).toBeUndefined();
  expect(await controlled({ b: 'b' }, { verify: [] })).toBeUndefined();
});
