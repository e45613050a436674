import { existsSync } from 'node:fs';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PartialConfig } from '../../src/config.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

/** What runs left that nobody accepted: seen, made a branch of, gone on with, for every way in which a task can come to have it. */

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
});
afterAll(() => fleet[Symbol.asyncDispose]());

const coders = { half: agent('half.sh') };
const STALLS = { idle: '2s' };

/** Each test has a worker and tasks on a queue of its own. */
const lab = (queue: string) => ({
  worker: (config: PartialConfig = {}) =>
    fleet.worker(queue, { coders, ...config, worker: { slots: 1, queues: [queue], ...config.worker } }),
  enqueue: (input: Partial<TaskInput> & { repo: string }) =>
    fleet.fleet.enqueue({ objective: 'Write both halves', coder: 'half', queue, ...input }),
});
const half = (work: string) =>
  until(() => existsSync(`${work}/tree/half.txt`) && !existsSync(`${work}/tree/README.md`));
const saved = (id: string) =>
  until(async () => (await fleet.fleet.saved.list(id)).flatMap(({ runs }) => runs)[0], { timeoutMs: 90_000 });
const files = (repo: string, ref: string) => git(repo, 'ls-tree', '--name-only', ref);

/** How a task ends with half of its work done. */
const ENDS: Record<string, (id: string) => Promise<unknown>> = {
  cancelled: (id) => fleet.fleet.cancel(id).then(() => fleet.settled(id)),
  terminated: (id) => fleet.client.workflow.getHandle(id).terminate('by hand'),
  parked: (id) => fleet.settled(id),
  failed: (id) =>
    fleet
      .settled(id)
      .then(() => fleet.fleet.giveUp(id))
      .then(() => fleet.result(id).catch(() => undefined)),
};

describe('what a task left that was not delivered', () => {
  test.concurrent.each(Object.keys(ENDS))('is seen, branched and gone on with where it was %s', async (end) => {
    const { worker, enqueue } = lab(end);
    await using _ = await worker();
    const repo = await fleet.repo(`repo-${end}`);
    const stalls = end === 'parked' || end === 'failed' ? { limits: STALLS, retry: { maxAttempts: 1 } } : {};
    const id = await enqueue({ repo, ...stalls, verify: ['test -e half.txt && test -e committed.txt'] });
    const live = await fleet.running(id);
    await half(live.work);
    await ENDS[end]!(id);
    const run = await saved(id);

    const shown = await fleet.cli(['task', id, 'work', '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      saved: [{ runId: live.runId, coder: 'half', files: 3, insertions: 2, deletions: 1, commit: run!.commit }],
      unknown: [],
    });
    const diff = await fleet.cli(['task', id, 'diff']);
    expect(diff.stdout).toMatch(/^\+committed$/m);
    expect(diff.stdout).toContain(`+by ${live.runId}`);
    expect(diff.stdout).toContain('-hello');

    expect(await fleet.cli(['task', id, 'work', '--branch', 'half-done'])).toMatchObject({ code: 0, stderr: '' });
    expect(await git(repo, 'rev-parse', 'half-done')).toBe(run!.commit);
    expect(await files(repo, 'half-done')).toBe('committed.txt\nhalf.txt');
    // Again it is the same one, and no branch is moved.
    expect(await fleet.cli(['task', id, 'work', '--branch', 'half-done'])).toMatchObject({ code: 0 });
    const moved = await fleet.cli(['task', id, 'work', '--branch', 'main']);
    expect(moved).toMatchObject({ code: 1, stderr: expect.stringContaining('already has a branch main') });

    const made = await fleet.cli(['task', id, 'work', '--continue', '--objective', 'Finish it']);
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining(`goes on from branch saved/${id}-1`) });
    const next = await fleet.settled(made.stdout);
    expect(next).toMatchObject({ state: 'done', objective: 'Finish it', continueFrom: run!.commit, runs: [{ n: 1 }] });
    expect(next.base).toBe(await git(repo, 'rev-parse', 'main'));
    // All of it is on the branch, and was judged.
    expect(await git(repo, 'diff', '--name-only', 'main', `fleet/${next.id}`)).toBe(
      'README.md\ncommitted.txt\nhalf.txt',
    );
    const { evidence } = next.receipts.find(({ kind }) => kind === 'git')!;
    expect(evidence['paths']).toEqual(expect.arrayContaining(['README.md', 'committed.txt', 'half.txt']));
  });
});

test.concurrent('saved work whose base has moved on is merged with the new base', async () => {
  const { worker, enqueue } = lab('moved');
  await using _ = await worker();
  const repo = await fleet.repo('repo-moved');
  const id = await enqueue({ repo });
  await half((await fleet.running(id)).work);
  await fleet.fleet.cancel(id);
  await fleet.settled(id);
  await saved(id);
  expect(await fleet.cli(['task', id, 'work', '--branch', 'left'])).toMatchObject({ code: 0 });
  await writeFile(`${repo}/other.txt`, 'other\n');
  await git(repo, 'add', '-A');
  await git(repo, '-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-qm', 'Other');
  const next = await fleet.settled(await enqueue({ repo, continueFrom: 'left' }));
  expect(next).toMatchObject({ state: 'done', base: await git(repo, 'rev-parse', 'main') });
  expect(await files(repo, `fleet/${next.id}`)).toBe('committed.txt\nhalf.txt\nother.txt');
});

test.concurrent('a run that was to go on from saved work and does not find it says so', async () => {
  const { worker, enqueue } = lab('gone');
  await using desk = await worker();
  const id = await enqueue({ repo: await fleet.repo('repo-gone'), limits: STALLS, retry: { maxAttempts: 1 } });
  const parked = await fleet.settled(id);
  expect(parked).toMatchObject({ state: 'parked', runs: [{ saved: { pushed: false } }] });
  await rm(`${desk.home}/vault`, { recursive: true });
  await fleet.fleet.retry(id);
  const next = await fleet.running(id, 2);
  expect(await readFile(`${next.work}/told`, 'utf8')).toContain('their changes are gone');
  const [first, second] = (await fleet.fleet.view(id)).runs;
  expect(second).toMatchObject({ resumedFrom: null, startedWithout: first!.runId });
  expect((await fleet.cli(['task', id])).stdout).toContain(`started without the saved work of run ${first!.runId}`);
  await fleet.fleet.cancel(id);
});

test.concurrent('of work that was removed by name nothing is left to continue, and what is wrong is said first', async () => {
  const { worker, enqueue } = lab('wrong');
  await using desk = await worker();
  const repo = await fleet.repo('repo-wrong');
  const id = await enqueue({ repo, limits: STALLS, retry: { maxAttempts: 1 } });
  await fleet.settled(id);
  const work = (...words: string[]) => fleet.cli(['task', id, 'work', ...words]);
  for (const [words, said] of [
    [['--branch', 'fleet/x'], 'must not be below fleet/'],
    [['--branch', 'a..b'], 'must be the name of a branch'],
    [['--continue', '--branch', 'a..b'], 'must be the name of a branch'],
    [['--continue', '--id', 'No Id'], '--id "No Id" must be lower-case words'],
    [['--objective', 'x'], 'give --continue as well'],
    [['--run', '7', '--branch', 'x'], `run 7 of task ${id} has no saved work`],
  ] as const)
    expect(await work(...words)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(said) });
  expect(await git(repo, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');

  const env = { FLEET_HOME: desk.home };
  expect(await fleet.cli(['clean', id, '--yes'], { env })).toMatchObject({ code: 0 });
  const vault = `${desk.home}/vault/${(await readdir(`${desk.home}/vault`))[0]}`;
  expect(await git(vault, 'for-each-ref', 'refs/fleet')).toBe('');
  const none = await work('--continue');
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('was cleaned after') });
  expect(await fleet.fleet.view(id)).toMatchObject({ runs: [{ savedGone: expect.any(String) }] });
  await fleet.fleet.retry(id);
  const next = await fleet.running(id, 2);
  expect((await fleet.fleet.view(id)).runs[1]).toMatchObject({ startedWithout: expect.stringMatching(/^1-/) });
  expect(existsSync(`${next.work}/tree/half.txt`) && (await readFile(`${next.work}/told`, 'utf8'))).not.toContain(
    'go on from',
  );
  await fleet.fleet.cancel(id);
});

test.concurrent('a worker that is not attached is named, and the task waits for nobody', async () => {
  const { worker, enqueue } = lab('away');
  const repo = await fleet.repo('repo-away');
  let id: string;
  {
    await using _ = await worker();
    id = await enqueue({ repo, limits: STALLS, retry: { maxAttempts: 1 } });
    await fleet.settled(id);
    await _.stop();
  }
  await using other = await fleet.worker('away-too', { coders, worker: { queues: ['away'] } });
  const shown = JSON.parse((await fleet.cli(['task', id, 'work', '--json'])).stdout) as { unknown: { why: string }[] };
  expect(shown).toMatchObject({ saved: [], unknown: [{ why: expect.stringMatching(/^worker .* is not attached$/) }] });
  expect(await fleet.cli(['task', id, 'work', '--branch', 'x'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is not attached'),
  });
  expect(existsSync(other.home)).toBe(true);
  await fleet.fleet.giveUp(id);
});
