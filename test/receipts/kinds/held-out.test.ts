import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { HeldOut } from '../../../src/domain/task/schema.ts';
import { heldOut } from '../../../src/receipts/kinds/held-out.ts';
import { TrialLab } from '../trial-lab.ts';

let lab: TrialLab;
let commit: string;

beforeEach(() => {
  lab = new TrialLab();
  lab.commit({ 'value.txt': 'wrong\n' });
  commit = lab.commit({ 'value.txt': 'right\n' });
  mkdirSync(lab.at('held-out/folder'), { recursive: true });
});
afterEach(() => lab.remove());

const put = (path: string, text: string) => writeFileSync(lab.at(`held-out/${path}`), text);
const checked = (checks: HeldOut[], unseal = async (text: string) => text) => {
  const { policy } = lab.evidence({ base: commit, commit, policy: {} });
  const evidence = lab.evidence({ base: commit, commit, policy: { checks: { ...policy.checks, heldOut: checks } } });
  return heldOut.collect({ ...evidence, unseal });
};

test('a script, a folder with its files, a sealed one: each in the checkout of the result', async () => {
  put('one.sh', 'grep -q right value.txt');
  put('folder/check.sh', 'cmp value.txt "$HELD_OUT/expected"');
  put('folder/expected', 'right\n');
  const finding = await checked([{ path: 'one.sh' }, { path: 'folder' }, { sealed: 'grep -q right value.txt' }]);
  expect(finding).toMatchObject({ ok: true, summary: '3 checks passed that the agent cannot see' });
});

test('what fails says nothing of the check', async () => {
  put('one.sh', 'echo the secret is 42; grep -q other value.txt');
  const finding = await checked([{ path: 'one.sh' }]);
  expect(finding).toMatchObject({ ok: false, summary: '1 of 1 check failed that the agent cannot see' });
  expect(JSON.stringify(finding)).not.toMatch(/secret|other|one\.sh/);
});

describe('a known test runner of a check', () => {
  const unseen = (body: string) =>
    `cat > "$TMPDIR/a.test.mjs" <<'END'\nimport { test } from 'node:test';\ntest('a', () => {});\n${body}\nEND\n`;
  test.each<[string, string, boolean]>([
    ['has a test that passes', `${unseen('')}node --test "$TMPDIR/a.test.mjs"`, true],
    ['runs a script that asserts', `echo 1 > "$TMPDIR/a.mjs"; node --test "$TMPDIR/a.mjs"`, true],
    ['ended early', `${unseen('process.exit(0);')}node --test "$TMPDIR/a.test.mjs"`, false],
    [
      'was a program that ended early',
      `${unseen("test('b', () => process.exit(0));")}node "$TMPDIR/a.test.mjs"`,
      false,
    ],
    ['ran no test', `node --test --test-name-pattern=none "$TMPDIR" || true`, false],
  ])('%s', async (_name, script, ok) => {
    put('one.sh', script);
    expect(await checked([{ path: 'one.sh' }])).toMatchObject({ ok });
  });
});

test.each<[string, HeldOut, RegExp]>([
  ['is not there', { path: 'none.sh' }, /there is no none\.sh in held-out/],
  ['has no script', { path: 'folder' }, /folder has no check\.sh/],
  ['was sealed to another', { sealed: 'x' }, /not for this worker/],
])('a check that %s is the owner’s to mend', async (_name, check, says) => {
  const finding = await checked([check], () => Promise.reject(new Error('not for this worker')));
  expect(finding).toMatchObject({ ok: false, reason: 'invalid-task', summary: expect.stringMatching(says) });
});

test('without a check there is no receipt', async () => expect(await checked([])).toBeUndefined());
