import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { GitHub } from '../../src/adapters/github/client.ts';
import { lookAtPull } from '../../src/adapters/github/look-pull.ts';
import { openPull, type OpenPull } from '../../src/adapters/github/open-pull.ts';
import { github as schema } from '../../src/domain/repository/github.ts';
import { FakeGitHub } from '../helpers/fake-github.ts';
import { git, makeRepo } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

let temp: Awaited<ReturnType<typeof tempDir>>;
let fake: FakeGitHub;
let github: GitHub;
let commit: string;
let pull: OpenPull;

const open = (token: string) => {
  const config = schema.parse({ api: fake.url, repositories: { 'file:///x': 'acme/app' } });
  const opened = GitHub.open({ config, url: 'file:///x', env: { GITHUB_TOKEN: token }, worker: 'ada' });
  if (!opened.ok) throw new Error(opened.failure.message);
  return opened.github;
};

beforeEach(async () => {
  temp = await tempDir();
  commit = makeRepo(temp.path);
  git(temp.path, 'branch', 'fleet/t1');
  fake = await FakeGitHub.start(temp.path);
  github = open(fake.token);
  pull = { head: 'fleet/t1', commit, title: 'T', body: 'B', labels: ['bot'], draft: true };
});
afterEach(async () => {
  await fake[Symbol.asyncDispose]();
  await temp[Symbol.asyncDispose]();
});

describe('a pull request is opened once', () => {
  test('into the default branch, with its labels; said again, only its text is brought up to date', async () => {
    expect(await openPull(github, pull)).toMatchObject({ ok: true, value: { number: 1 } });
    expect(await openPull(github, { ...pull, body: 'B2' })).toMatchObject({ ok: true, value: { number: 1 } });
    expect(fake.pulls).toEqual([
      expect.objectContaining({ base: 'main', head: 'fleet/t1', draft: true, body: 'B2', labels: ['bot'] }),
    ]);
  });

  test('an answer that was lost after it was made', async () => {
    fake.fault(/^POST .*pulls$/, { lose: true });
    expect(await openPull(github, pull)).toMatchObject({ ok: false, laterMs: expect.any(Number) });
    expect(await openPull(github, pull)).toMatchObject({ ok: true, value: { number: 1 } });
    expect(fake.pulls).toHaveLength(1);
  });

  test('one that a person has merged or closed meanwhile, with this very commit, is that one', async () => {
    await openPull(github, pull);
    fake.end(1, 'merged');
    expect(await openPull(github, pull)).toMatchObject({ value: { number: 1 } });
    expect(await lookAtPull(github, 1)).toMatchObject({ value: { state: 'merged' } });
    // Another commit of the same branch is another matter.
    git(temp.path, 'commit', '-q', '--allow-empty', '-m', 'more');
    git(temp.path, 'branch', '-f', 'fleet/t1');
    const more = { ...pull, commit: git(temp.path, 'rev-parse', 'HEAD') };
    expect(await openPull(github, more)).toMatchObject({ value: { number: 2 } });
  });
});

describe('what the server refuses', () => {
  test.each([
    ['a secondary limit', { status: 403, headers: { 'retry-after': '7' }, message: 'secondary rate limit' }, 7_000],
    ['429', { status: 429, headers: { 'retry-after': '3' } }, 3_000],
    ['a limit without a time', { status: 403, message: 'You have exceeded a secondary rate limit' }, 60_000],
    ['502', { status: 502 }, 30_000],
  ])('%s is asked again later', async (_name, fault, laterMs) => {
    fake.fault(/./, fault);
    expect(await openPull(github, pull)).toMatchObject({ ok: false, laterMs });
    expect(fake.pulls).toHaveLength(0);
  });

  test('until the hour is over', async () => {
    const reset = String(Math.floor(Date.now() / 1_000) + 90);
    fake.fault(/./, { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset } });
    const answer = (await openPull(github, pull)) as { laterMs: number };
    expect(answer.laterMs).toBeGreaterThan(80_000);
    expect(answer.laterMs).toBeLessThanOrEqual(90_000);
  });

  test('a server that is not there is asked again', async () => {
    await fake[Symbol.asyncDispose]();
    expect(await openPull(github, pull)).toMatchObject({ ok: false, laterMs: 30_000 });
    fake = await FakeGitHub.start(temp.path);
  });

  test('a token that is not taken, or not there, is for a person; it is never shown', async () => {
    const answer = await openPull(open('wrong-secret'), pull);
    expect(answer).toMatchObject({ ok: false, failure: { reason: 'auth' } });
    expect(JSON.stringify(answer)).toMatch(/GitHub refused the token in GITHUB_TOKEN for acme\/app \(401\)/);
    expect(JSON.stringify(answer)).not.toContain('wrong-secret');
    fake.fault(/POST/, { status: 403, message: 'Resource not accessible by integration' });
    expect(await openPull(github, pull)).toMatchObject({ failure: { reason: 'auth' } });
    expect(() => open('')).toThrow(/worker ada has no token for acme\/app: its environment has no GITHUB_TOKEN/);
  });

  test('what is not there, or not valid', async () => {
    fake.fault(/./, { status: 404 });
    expect(await openPull(github, pull)).toMatchObject({ failure: { reason: 'repo-unavailable' } });
    expect(await openPull(github, { ...pull, head: 'gone' })).toMatchObject({
      failure: { reason: 'repo-unavailable', message: expect.stringContaining('head is invalid') },
    });
  });
});

test('how it stands: checks, the newest word of each reviewer, and a conflict', async () => {
  await openPull(github, pull);
  const look = async () => ((await lookAtPull(github, 1)) as { value: object }).value;
  expect(await look()).toMatchObject({ state: 'open', checks: 'none', head: commit, conflict: null, requested: [] });
  fake.check(commit, 'unit', null);
  expect(await look()).toMatchObject({ checks: 'pending', unfinished: 1 });
  fake.check(commit, 'unit', 'success');
  fake.check(commit, 'lint', 'neutral');
  expect(await look()).toMatchObject({ checks: 'green', unfinished: 0 });
  fake.check(commit, 'lint', 'failure', 'a.ts:1 is wrong');
  expect(await look()).toMatchObject({
    checks: 'red',
    failed: [{ name: 'lint', conclusion: 'failure', said: 'a.ts:1 is wrong' }],
  });
  fake.review(1, { by: 'jean', state: 'CHANGES_REQUESTED', body: 'no' });
  fake.review(1, { by: 'ann', state: 'CHANGES_REQUESTED', body: 'nor I' });
  fake.review(1, { by: 'ann', state: 'APPROVED', body: 'now' });
  fake.review(1, { by: 'jean', state: 'COMMENTED', body: 'still' });
  expect(await look()).toMatchObject({ requested: [{ by: 'jean', body: 'no' }] });
  fake.pulls[0]!.mergeable = false;
  expect(await look()).toMatchObject({ conflict: commit });
});
