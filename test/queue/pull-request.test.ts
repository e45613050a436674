import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { FakeGitHub, type FakePull } from '../helpers/fake-github.ts';
import { git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { doing, scripted } from '../helpers/scripted.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let github: FakeGitHub;
let bare: string;
let repo: string;
let worker: TestWorker;

const configOf = (queue: string) => ({
  lease: { heartbeat: '3s', grace: '45s', selfKill: '30s' },
  worker: { slots: 4, queues: [queue] },
  coders: { scripted },
  github: { api: github.url, repositories: { [repo]: github.name }, poll: '1s', settle: '30s' },
});

beforeAll(async () => {
  fleet = await TestFleet.start();
  const from = await fleet.repo('from');
  bare = `${fleet.root}/app.git`;
  repo = `file://${bare}`;
  await git(fleet.root, 'clone', '-q', '--bare', from, bare);
  await git(bare, 'branch', 'develop');
  await git(bare, 'branch', 'moving');
  github = await FakeGitHub.start(bare);
  worker = await fleet.worker('one', configOf('fleet'), { env: { GITHUB_TOKEN: github.token } });
});
afterAll(async () => {
  await fleet[Symbol.asyncDispose]();
  await github[Symbol.asyncDispose]();
});

/** Its commit says which run made it. */
const enqueue = (input: Partial<TaskInput>): Promise<string> =>
  fleet.fleet.enqueue({
    ...{ objective: doing('echo "$FLEET_RUN" > "$FLEET_TASK.txt"'), title: 'Do it', repo },
    ...{ coder: 'scripted', deliver: 'pr', verify: ['true'], ...input },
  });
const pullsOf = (id: string): FakePull[] => github.pulls.filter(({ head }) => head === `fleet/${id}`);
/** Once run `n` of the task was accepted, and waits with its pull request. */
const opened = (id: string, n = 1) =>
  until(async () => {
    const { state, pull, commit, runs, message } = await fleet.fleet.view(id);
    if (state === 'parked' || state === 'done') throw new Error(`${id} is ${state}: ${message}`);
    return state === 'awaiting-checks' && pull && commit && runs.length === n && { pull, commit, runs };
  });

describe('deliver: pr', () => {
  test.concurrent('from the command line: a draft with labels and what the receipts show; done once it is opened', async () => {
    const enqueued = await fleet.cli([
      ...['enqueue', doing('echo x > x.txt'), '--repo', repo, '--coder', 'scripted', '--deliver', 'pr', '--draft'],
      ...['--into', 'develop', '--until', 'opened', '--verify', 'test -s x.txt', '--json'],
    ]);
    expect(enqueued.stderr).toBe('');
    const { id } = JSON.parse(enqueued.stdout) as { id: string };
    const report = await fleet.settled(id);
    expect(report).toMatchObject({ state: 'done', pull: { state: 'open' } });
    const [pull, ...more] = pullsOf(id);
    expect(more).toEqual([]);
    expect(pull).toMatchObject({ base: 'develop', draft: true });
    expect(pull!.body).toMatch(/^> DO: echo x > x\.txt\n\nMade by scripted for the task/);
    expect(pull!.body).toMatch(/\| acceptance \| yes \| /);
    expect(pull!.body).toContain(report.verdict!.digest);
    expect((await fleet.cli(['task', id])).stdout).toContain(`${github.url}/acme/app/pull/${pull!.number} (open`);
  });

  test.concurrent('it waits for its checks without a slot; one that has none is green after a while', async () => {
    const id = await enqueue({ pr: { labels: ['bot'] } });
    const { commit, pull } = await opened(id);
    github.check(commit, 'unit', null);
    expect(pull.checks).toBe('pending');
    await until(async () => (await fleet.fleet.view(id)).message?.includes('1 checks have not ended'));
    github.check(commit, 'unit', 'success');
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', pull: { checks: 'green' } });
    expect(pullsOf(id)[0]!.labels).toEqual(['bot']);

    const none = await enqueue({});
    expect(await fleet.settled(none)).toMatchObject({ state: 'done' });
  });

  test.concurrent('red checks go back with what they say, to the same pull request; so often as the task allows', async () => {
    const told = 'printf "%s\\n" "$prompt" | grep -q "is wron[g]" && echo told || echo new';
    const script = `{ ${told}; } > "$FLEET_TASK.txt"`;
    const id = await enqueue({ objective: doing(script), pr: { tries: 1 } });
    const { commit } = await opened(id);
    github.check(commit, 'unit', 'failure', 'a.ts:1 is wrong');
    const second = await opened(id, 2);
    expect(second.runs[0]).toMatchObject({ reason: 'checks-failed', counts: false });
    expect(second.runs[1]!.resumedFrom).toBe(second.runs[0]!.runId);
    expect(await git(bare, 'show', `fleet/${id}:${id}.txt`)).toBe('told');
    expect(await git(bare, 'rev-parse', `fleet/${id}`)).toBe(second.commit);
    github.check(second.commit, 'unit', 'failure', 'b.ts:2 is wrong');
    const parked = await fleet.settled(id);
    expect(parked).toMatchObject({ state: 'parked', reason: 'checks-failed', attempts: { used: 0 } });
    expect(parked.message).toContain('b.ts:2 is wrong');
    expect(pullsOf(id)).toHaveLength(1);
    expect(pullsOf(id)[0]!.body).toContain(second.commit);
  });

  test.concurrent('requested changes go back once each; merged by a person it is done', async () => {
    const script = 'printf "%s\\n" "$prompt" | grep -c "rename i[t]" > "$FLEET_TASK.txt"';
    const id = await enqueue({ objective: doing(script), pr: { until: 'merged' } });
    const { pull } = await opened(id);
    github.review(pull.number, {
      ...{ by: 'passer-by', author_association: 'NONE', state: 'CHANGES_REQUESTED', body: 'Remove it all.' },
    });
    const comments = [{ path: 'a.ts', line: 3, body: 'please rename it' }];
    github.review(pull.number, { by: 'jean', state: 'CHANGES_REQUESTED', body: 'Not so.', comments });
    const second = await opened(id, 2);
    expect(second.runs[0]).toMatchObject({
      reason: 'changes-requested',
      message: 'jean asks for changes: Not so.\na.ts:3: please rename it',
    });
    expect(Number(await git(bare, 'show', `fleet/${id}:${id}.txt`))).toBeGreaterThan(0);
    // His review stands until he looks again.
    await until(async () => (await fleet.fleet.view(id)).message?.includes('waits for somebody to merge it'));
    github.end(pull.number, 'merged');
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', pull: { state: 'merged' }, runs: [{}, {}] });
  });

  test.concurrent('one that conflicts with its target goes on from there, with both sides marked', async () => {
    const script = "grep -q '<<<<<<<' README.md && echo both > README.md || echo mine > README.md";
    const id = await enqueue({ objective: doing(script), into: 'moving' });
    const { pull } = await opened(id);
    await git(bare, 'update-ref', 'refs/heads/moving', await commitOn(bare, 'README.md', 'theirs'));
    pullsOf(id)[0]!.mergeable = false;
    const tip = await git(bare, 'rev-parse', 'moving');
    await until(async () => (await fleet.fleet.view(id)).base === tip);
    pullsOf(id)[0]!.mergeable = true;
    const second = await opened(id, 2);
    expect(second.runs[0]).toMatchObject({ reason: 'merge-failed' });
    expect(second.pull.number).toBe(pull.number);
    expect(await git(bare, 'show', `fleet/${id}:README.md`)).toBe('both');
    expect(await git(bare, 'rev-parse', `fleet/${id}^`)).toBe(tip);
    github.check(second.commit, 'unit', 'success');
    expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
  });

  test.concurrent('closed by a person it is held for a person', async () => {
    const id = await enqueue({ pr: { until: 'merged' } });
    const { pull } = await opened(id);
    github.end(pull.number, 'closed');
    const parked = await fleet.settled(id);
    expect(parked).toMatchObject({ state: 'parked', reason: 'pull-closed' });
    expect(parked.message).toMatch(/pull\/\d+ was closed without being merged$/);
  });

  test.concurrent('cancelled, it is closed and its branch is gone; what somebody else has pushed there stays', async () => {
    const [id, taken] = await Promise.all([1, 2].map(() => enqueue({ pr: { until: 'merged' } })));
    for (const one of [id!, taken!]) await opened(one);
    await git(bare, 'update-ref', `refs/heads/fleet/${taken}`, await git(bare, 'rev-parse', 'main'));
    for (const one of [id!, taken!]) await fleet.fleet.cancel(one);
    for (const one of [id!, taken!]) expect(await fleet.settled(one)).toMatchObject({ state: 'cancelled' });
    expect(pullsOf(id!)).toMatchObject([{ state: 'closed', merged: false }]);
    expect(await git(bare, 'branch', '--list', `fleet/${id}`)).toBe('');
    expect(pullsOf(taken!)).toMatchObject([{ state: 'open' }]);
    expect(await git(bare, 'rev-parse', `fleet/${taken}`)).toBe(await git(bare, 'rev-parse', 'main'));
  });

  test.concurrent('refused where it cannot be: a path, no token, another host', async () => {
    const path = await fleet.repo('path');
    await expect(enqueue({ repo: path })).rejects.toThrow(/^deliver: pr needs a repository by URL: .*\/path is a path/);
    await using poor = await fleet.worker('poor', configOf('poor'));
    const id = await enqueue({ queue: 'poor' });
    const parked = await fleet.settled(id);
    expect(parked).toMatchObject({ state: 'parked', reason: 'auth' });
    expect(parked.message).toContain(`worker ${poor.name} has no token for acme/app`);
    const other = `${fleet.root}/other.git`;
    await git(fleet.root, 'clone', '-q', '--bare', bare, other);
    const elsewhere = await fleet.settled(await enqueue({ repo: `file://${other}` }));
    expect(elsewhere).toMatchObject({ state: 'parked', reason: 'repo-unavailable' });
    expect(elsewhere.message).toContain('name it under github.repositories');
  });
});

test('a limit, a broken server, an answer that was lost and a worker that is killed: it is opened once', async () => {
  const config = configOf('once');
  const first = await fleet.worker('once', config, { env: { GITHUB_TOKEN: github.token } });
  const before = github.pulls.length;
  github.fault(/^GET .*pulls$/, { status: 429, headers: { 'retry-after': '1' } });
  github.fault(/^POST .*pulls$/, { status: 403, headers: { 'retry-after': '1' }, message: 'secondary rate limit' });
  github.fault(/^PATCH|^POST .*labels$/, { lose: true });
  const id = await enqueue({ queue: 'once', pr: { labels: ['x'], until: 'merged' } });
  await until(() => github.pulls.length > before);
  await first.stop('SIGKILL');
  await using _second = await fleet.worker('once', config, { env: { GITHUB_TOKEN: github.token } });
  const { pull } = await opened(id);
  github.end(pull.number, 'merged');
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', runs: [{}] });
  expect(pullsOf(id)).toHaveLength(1);
});

test('no agent, log or history has the token', async () => {
  const script = 'env > env.txt; grep -c "" /proc/self/environ > /dev/null';
  await expect(enqueue({ objective: doing(script), env: ['GITHUB_TOKEN'] })).rejects.toThrow(
    `env must not have GITHUB_TOKEN: worker ${worker.name} gives it to no task`,
  );
  const id = await enqueue({ objective: doing(script), pr: { until: 'opened' } });
  expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
  expect(await git(bare, 'show', `fleet/${id}:env.txt`)).not.toContain(github.token);
  const history = await fleet.client.workflow.getHandle(id).fetchHistory();
  expect(JSON.stringify(history)).not.toContain(github.token);
  expect(Buffer.from(JSON.stringify(history)).includes(Buffer.from(github.token).toString('base64'))).toBe(false);
  expect(worker.output() + (await readFile(`${worker.home}/worker.log`, 'utf8'))).not.toContain(github.token);
});

/** A commit on top of main in which a file has this text. */
async function commitOn(bareRepo: string, file: string, text: string): Promise<string> {
  const dir = `${bareRepo}-by-hand`;
  await git(fleet.root, 'clone', '-q', bareRepo, dir);
  await writeFile(`${dir}/${file}`, text);
  await git(dir, '-c', 'user.name=P', '-c', 'user.email=p@x', 'commit', '-qam', 'By hand');
  await git(dir, 'push', '-q', 'origin', 'HEAD:by-hand');
  return git(dir, 'rev-parse', 'HEAD');
}
