import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Policy } from '../../src/domain/repo-policy.ts';
import type { ContainedCommand, ContainedResult } from '../../src/ports.ts';
import { acceptance } from '../../src/receipts/acceptance.ts';
import { evidenceOf } from './evidence.ts';

/** Real checkouts of a real repository, real commands; only the containment is left out. */

let dir: string;
let base: string;
const at = (path: string) => join(dir, path);
const git = (...args: string[]) => execFileSync('git', args, { cwd: at('repo'), encoding: 'utf8' }).trim();

function commit(files: Record<string, string | null>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(at(`repo/${path}`)), { recursive: true });
    if (text === null) rmSync(at(`repo/${path}`));
    else writeFileSync(at(`repo/${path}`), text);
  }
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@localhost', 'commit', '-qm', 'change');
  return git('rev-parse', 'HEAD');
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'fleet-acceptance-'));
  mkdirSync(at('repo'));
  git('init', '-q');
  base = commit({ 'value.txt': 'wrong\n', 'test/check.sh': 'grep -q right value.txt\n' });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const verified = (commitId: string, policy: Partial<Policy>, checkout: string | null = null) => {
  const evidence = evidenceOf({
    result: { gitDir: at('repo/.git'), base, commit: commitId },
    rest: { acceptanceDir: at('acceptance'), acceptanceLog: at('acceptance.log'), checkout, run },
  });
  mkdirSync(evidence.acceptanceDir);
  return acceptance.collect({ ...evidence, policy: { ...evidence.policy, verify: ['sh test/check.sh'], ...policy } });
};

async function run({ command, cwd, timeoutMs, logFile }: ContainedCommand): Promise<ContainedResult> {
  const started = performance.now();
  const { status, signal, stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd,
    timeout: timeoutMs,
    encoding: 'utf8',
  });
  appendFileSync(logFile, stdout + stderr);
  const timedOut = signal === 'SIGTERM';
  return {
    exitCode: status,
    signal,
    timedOut,
    durationMs: performance.now() - started,
    tail: (stdout + stderr).slice(-2_000),
    notFound: [],
  };
}

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

describe('a command that does not pass', () => {
  const summary = async (verify: string[], policy: Partial<Policy> = {}) =>
    (await verified(commit({ 'value.txt': 'right\n' }), { verify, ...policy }))?.summary;

  test('tells its code and its last words', async () => {
    expect(await summary(['echo one; echo two >&2; exit 7'])).toBe(
      '`echo one; echo two >&2; exit 7` failed with exit code 7:\none\ntwo',
    );
  });

  test('tells 600 characters at most', async () => {
    expect((await summary(['seq 1 1000; exit 1']))?.length).toBeLessThan(700);
  });

  test('is not there', async () => {
    expect(await summary(['no-such-program'])).toMatch(
      /^`no-such-program` was not found \(exit code 127\):\n.*not found/,
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
    expect(await summary(['true'], { setup: ['exit 4'] })).toBe('the setup command `exit 4` failed with exit code 4');
  });
});

test('a command without time left is not run, and not forgotten', async () => {
  const limits = { totalMs: 1, idleMs: 1, processes: 99, diskBytes: 1e9, verifyMs: 1_000 };
  const evidence = evidenceOf({
    result: { gitDir: at('repo/.git'), base, commit: base },
    rest: { acceptanceDir: at('a'), acceptanceLog: at('log') },
  });
  mkdirSync(at('a'));
  const slow = async () => ({ exitCode: 0, signal: null, timedOut: false, durationMs: 1_000, tail: '', notFound: [] });
  const finding = await acceptance.collect({
    ...evidence,
    run: slow,
    policy: { ...evidence.policy, verify: ['one', 'two'], limits },
  });
  expect(finding).toMatchObject({ ok: false, summary: '`two` was not run: the 1s for verification were used up' });
});

test('setup runs first, and ignored files that it needs are copied from the user’s checkout', async () => {
  const checkout = at('checkout');
  execFileSync('git', ['clone', '-q', at('repo'), checkout]);
  writeFileSync(join(checkout, '.env'), 'KEY=1\n');
  writeFileSync(join(checkout, '.git/info/exclude'), '.env\n');
  const policy = { setup: ['cp .env made'], verify: ['grep -q KEY made'], copy: ['.env'] };
  expect(await verified(base, policy, checkout)).toMatchObject({ ok: true });
  expect(readFileSync(at('acceptance.log'), 'utf8')).toBe('');
});

test('without a command there is no receipt', async () => expect(await verified(base, { verify: [] })).toBeUndefined());
