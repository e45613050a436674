import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Policy } from '../../../src/domain/repository/repo-policy.ts';
import { acceptance } from '../../../src/receipts/kinds/acceptance.ts';
import { TrialLab } from '../trial-lab.ts';

let lab: TrialLab;
let base: string;
const at = (path: string) => lab.at(path);
const commit = (files: Record<string, string | null>) => lab.commit(files);

beforeEach(() => {
  lab = new TrialLab();
  base = commit({ 'value.txt': 'wrong\n', 'test/check.sh': 'grep -q right value.txt\n' });
});
afterEach(() => lab.remove());

const verified = (commitId: string, policy: Partial<Policy>, checkout: string | null = null) =>
  acceptance.collect(
    lab.evidence({ base, commit: commitId, policy: { verify: ['sh test/check.sh'], ...policy }, rest: { checkout } }),
  );

test('the commands pass on the committed result', async () => {
  const finding = await verified(commit({ 'value.txt': 'right\n' }), {});
  expect(finding).toMatchObject({
    ok: true,
    summary: expect.stringMatching(/^`sh test\/check.sh` passed in a fresh checkout, in /),
  });
  expect(finding?.evidence).toMatchObject({ steps: [{ command: 'sh test/check.sh', exitCode: 0, timedOut: false }] });
});

test('what was not committed does not help', async () => {
  const unchanged = commit({ 'other.txt': 'x\n' });
  writeFileSync(at('repo/value.txt'), 'right\n');
  expect(await verified(unchanged, {})).toMatchObject({
    ok: false,
    summary: '`sh test/check.sh` failed with exit code 1',
  });
});

test.each<[string, Record<string, string | null>]>([
  ['a weakened test', { 'test/check.sh': 'exit 0\n' }],
  ['a deleted test', { 'test/check.sh': null, 'test/other.sh': 'exit 0\n' }],
])('%s does not help where tests are protected', async (_name, change) => {
  expect(await verified(commit(change), { protect: ['test/**'] })).toMatchObject({ ok: false });
});

describe('a new file below what is protected', () => {
  const check = { verify: ['for t in test/*.sh; do sh "$t" || exit 1; done'], protect: ['test/**'] };
  const both = (more: string) => commit({ 'value.txt': 'right\n', 'test/more.sh': more });

  test.each<[string, Partial<Policy>]>([
    ['', {}],
    [' of a task with a scope', { allow: [['**']] }],
  ])('is left out of the trial%s, and the receipt says so', async (_name, scope) => {
    const finding = await verified(both('exit 1\n'), { ...check, ...scope });
    expect(finding).toMatchObject({ ok: true, evidence: { restoredCount: 0, setAside: ['test/more.sh'] } });
    expect(finding?.summary).toMatch(/ \(without test\/more\.sh, new below what is protected\)$/);
  });

  test('is named where the result fails without it', async () => {
    const finding = await verified(both('exit 0\n'), { ...check, verify: ['sh test/more.sh'] });
    expect(finding).toMatchObject({ ok: false });
    expect(finding?.summary).toContain('\n(Checked without test/more.sh, new below what the task protects.)');
  });

  test('cannot stand in for a file of the base by its case', async () => {
    const finding = await verified(commit({ 'value.txt': 'right\n', 'TEST/more.sh': 'exit 1\n' }), {
      ...check,
      verify: ['for t in */*.sh; do sh "$t" || exit 1; done'],
    });
    expect(finding).toMatchObject({ ok: true, evidence: { setAside: ['TEST/more.sh'] } });
  });
});

describe('a command that does not pass', () => {
  const summary = async (verify: string[], policy: Partial<Policy> = {}) =>
    (await verified(commit({ 'value.txt': 'right\n' }), { verify, ...policy }))?.summary;

  test('tells its code and its last words', async () => {
    expect(await summary(['echo one; echo two >&2; exit 7'])).toBe(
      '`echo one; echo two >&2; exit 7` failed with exit code 7:\none\ntwo',
    );
  });

  test('tells 2,000 characters of it at most, from its begin to its end', async () => {
    const said = await summary(['seq 1 1000; exit 1']);
    expect(said?.length).toBeLessThan(2_100);
    expect(said).toMatch(/:\n1\n2\n[^]*\n\[…\]\n[^]*\n1000$/);
  });

  test('has all of its output in the log, behind the command', async () => {
    await summary(['seq 1 3; exit 1']);
    expect(readFileSync(at('acceptance.log'), 'utf8')).toBe('$ seq 1 3; exit 1\n1\n2\n3\n');
  });

  test('is not there', async () => {
    expect(await summary(['no-such-program'])).toMatch(
      /^no change can pass it, as it fails on the base in the same way: `no-such-program` was not found \(exit code 127\):\n.*not found/,
    );
  });

  test('does not end', async () => {
    const limits = { totalMs: 1, idleMs: 1, processes: 99, diskBytes: 1e9, verifyMs: 300 };
    expect(await summary(['exec sleep 30'], { limits })).toBe('`exec sleep 30` did not end within 300ms');
  });

  test('keeps those behind it from running', async () => {
    await summary(['false', `touch ${at('ran')}`]);
    expect(existsSync(at('ran'))).toBe(false);
  });

  test('is a setup command', async () => {
    expect(await summary(['true'], { setup: ['exit 4'] })).toBe(
      'no change can pass it, as it fails on the base in the same way: the setup command `exit 4` failed with exit code 4',
    );
  });
});

test('a command without time left is not run, and not forgotten', async () => {
  const limits = { totalMs: 1, idleMs: 1, processes: 99, diskBytes: 1e9, verifyMs: 1_000 };
  const evidence = lab.evidence({ base, commit: base, policy: { verify: ['one', 'two'], limits } });
  const slow = async () => ({ exitCode: 0, signal: null, timedOut: false, durationMs: 1_000, said: '', notFound: [] });
  const finding = await acceptance.collect({
    ...evidence,
    space: async (name) => ({ ...(await evidence.space(name)), run: slow }),
  });
  expect(finding).toMatchObject({ ok: false, summary: '`two` was not run: the 1s for verification were used up' });
});

test('setup runs first, and ignored files that it needs are copied from the user’s checkout', async () => {
  const checkout = at('checkout');
  execFileSync('git', ['clone', '-q', at('repo'), checkout]);
  writeFileSync(`${checkout}/.env`, 'KEY=1\n');
  writeFileSync(`${checkout}/.git/info/exclude`, '.env\n');
  const policy = { setup: ['cp .env made'], verify: ['grep -q KEY made'], copy: ['.env'] };
  expect(await verified(base, policy, checkout)).toMatchObject({ ok: true });
  expect(readFileSync(at('acceptance.log'), 'utf8')).toBe('$ cp .env made\n$ grep -q KEY made\n');
});

test('without a command there is no receipt', async () => expect(await verified(base, { verify: [] })).toBeUndefined());

test('files that are Git LFS pointers are named, whatever comes of it', async () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`;
  base = commit({ 'model.bin': pointer, '.gitattributes': '*.bin filter=lfs\n' });
  const red = await verified(commit({ 'other.txt': 'x\n' }), {});
  expect(red).toMatchObject({ ok: false, evidence: { pointersCount: 1, pointers: ['model.bin'] } });
  expect(red?.summary).toContain('(Checked with Git LFS pointers in place of the content of model.bin.)');
  const green = await verified(commit({ 'value.txt': 'right\n' }), {});
  expect(green).toMatchObject({ ok: true, evidence: { pointersCount: 1 } });
  expect(green?.summary).toContain('with Git LFS pointers in place of the content of model.bin');
});

test('functions of the runner that the result replaces are told, but not those that the base replaces', async () => {
  const usual = 'import unittest\nunittest.TestCase.assertTrue = lambda *a: None\n';
  const tests = 'import a, unittest\nclass TestA(unittest.TestCase):\n    def test_a(self): self.assertTrue(a)\n';
  base = commit({ 'a.py': usual, 'test_a.py': tests });
  const policy = { verify: ['python3 -m pytest -q'] };
  const emptied = commit({ 'a.py': `${usual}unittest.TestCase.assertEqual = lambda *a: None\n` });
  expect((await verified(emptied, policy))?.evidence).toMatchObject({ replaced: ['TestCase.assertEqual'] });
  const honest = commit({ 'a.py': `${usual}x = 1\n` });
  expect((await verified(honest, policy))?.evidence).not.toHaveProperty('replaced');
});
