import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PartialConfig } from '../../src/config.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { agents } from '../helpers/live-agents.ts';
import { asRoot, readOnly, tmpfs } from '../helpers/mounts.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const coders = {
  wait: agent('wait-for-file.sh'),
  bytes: agent('fill-disk.sh'),
  inodes: agent('fill-inodes.sh'),
  glutton: agent('glutton.sh'),
  fails: agent('fail-when-full.sh'),
  noRoom: agent('no-room.sh'),
  hold: agent('hold-result.sh'),
  ok: agent('ok.sh'),
};
const SMALL = { floor: '24MB', reserve: '6MB' };
const LONG = { heartbeat: '3s', grace: '45s', selfKill: '30s' };
const rootTest = asRoot ? test : test.skip;

/** A worker on a queue of its own, and tasks for it. */
const lab = (name: string) => ({
  home: `${fleet.root}/${name}`,
  worker: (config: PartialConfig = {}, env: Record<string, string> = {}) =>
    fleet.worker(
      name,
      { lease: LONG, coders, ...config, worker: { slots: 3, queues: [name], env: ['GO'], ...config.worker } },
      { env },
    ),
  enqueue: (coder: keyof typeof coders, input: Partial<TaskInput> = {}) =>
    fleet.fleet.enqueue({ objective: 'x', coder, queue: name, ...input }),
});

const alive = async (worker: TestWorker) => expect((await worker.view()).pid).toBe(worker.pid);
const state = async (id: string) => (await fleet.fleet.view(id)).state;

async function filled(name: 'bytes' | 'inodes', options: string): Promise<void> {
  const { home, worker, enqueue } = lab(name);
  using _disk = tmpfs(home, options);
  await using held = await worker({ disk: SMALL });
  await until(() => existsSync(`${home}/reserve`));
  const repo = await fleet.repo(`repo-${name}`);
  const innocent = await enqueue('wait', { repo });
  const live = await fleet.running(innocent);
  const greedy = await enqueue(name, { repo });

  // The one that filled it is stopped, at no cost of an attempt, with its receipts; nothing new is taken in meanwhile.
  await until(() => held.output().includes('no new work is taken in: the disk of'), { timeoutMs: 60_000 });
  const later = await enqueue('ok', { repo });
  const stopped = await until(async () => (await fleet.fleet.view(greedy)).runs.find(({ endedAt }) => endedAt), {
    timeoutMs: 90_000,
  });
  expect(stopped).toMatchObject({ reason: 'disk', counts: false });
  expect(stopped.receipts.map(({ kind, ok }) => [kind, ok])).toContainEqual(['exit', false]);
  expect(stopped.message).toMatch(/the disk was full, and its work folder had grown most, to \d/);
  expect(await agents(greedy)).toEqual([]);
  await alive(held);

  // There is room again: the others go on, and so does the task itself.
  expect(await fleet.settled(later)).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(held.output()).toContain('new work is taken in again (disk)');
  expect(await agents(innocent)).toEqual([live]);
  await writeFile(`${live.work}/go`, '');
  expect(await fleet.settled(innocent)).toMatchObject({ state: 'done', runs: [{ runId: live.runId, reason: null }] });
  expect(await fleet.settled(greedy, 150_000)).toMatchObject({
    state: 'done',
    attempts: { used: 1 },
    runs: [{ reason: 'disk' }, { reason: null }],
  });
  await until(() => existsSync(`${home}/reserve`));
  await held.stop('SIGKILL');
}

rootTest('F27: an agent fills the disk of its worker (needs root)', () => filled('bytes', 'size=96m'));

rootTest('F27: an agent uses up all inodes of its worker (needs root)', () =>
  filled('inodes', 'size=400m,nr_inodes=3000'),
);

rootTest('F27: an agent that fails as the disk is full has used up no attempt (needs root)', async () => {
  const { home, worker, enqueue } = lab('fails');
  using _disk = tmpfs(home, 'size=96m');
  await using held = await worker({ disk: SMALL });
  const id = await enqueue('fails', { repo: await fleet.repo('repo-fails') });
  expect(await fleet.settled(id, 150_000)).toMatchObject({
    state: 'done',
    attempts: { used: 1 },
    runs: [
      { reason: 'disk', counts: false, message: expect.stringMatching(/it ended with 1 while the disk was full/) },
      { reason: null },
    ],
  });
  await alive(held);
  await held.stop('SIGKILL');
});

rootTest('F27: an agent that ends well as the disk is full has used up no attempt (needs root)', async () => {
  const { home, worker, enqueue } = lab('well');
  const go = `${fleet.root}/go-well`;
  using _disk = tmpfs(home, 'size=96m');
  await using held = await worker({ disk: SMALL }, { GO: go });
  await until(() => existsSync(`${home}/reserve`));
  const id = await enqueue('noRoom', {
    repo: await fleet.repo('repo-well'),
    env: ['GO'],
    retry: { maxAttempts: 1 },
    verify: ['grep -qx made made.txt'],
  });
  await fleet.running(id);
  await until(async () => (await fleet.fleet.read(id, { file: 'log' })).text.includes('ready'));
  // Neither the agent nor its run has filled it.
  const fill = () =>
    execFileSync('sh', ['-c', `head -c 10000000000 /dev/zero >> ${home}/filler; true`], { stdio: 'ignore' });
  fill();
  await until(() => held.output().includes('no new work is taken in: the disk of'));
  fill();
  await writeFile(go, '');
  await until(async () => (await agents(id)).length === 0);
  await rm(`${home}/filler`);
  expect(await fleet.settled(id)).toMatchObject({
    state: 'done',
    attempts: { used: 1 },
    runs: [
      { reason: 'disk', counts: false, message: expect.stringContaining('the disk was full while it ran') },
      { reason: null },
    ],
  });
  await alive(held);
});

test('F27: an agent over its own limit has used up its budget, and it is said by how much', async () => {
  const { worker, enqueue } = lab('limit');
  await using _ = await worker();
  const id = await enqueue('glutton', { repo: await fleet.repo('repo-limit'), limits: { disk: '20MB' } });
  expect(await fleet.settled(id, 120_000)).toMatchObject({
    state: 'parked',
    reason: 'over-budget',
    attempts: { used: 1 },
    message: expect.stringMatching(/its work folder holds [\d.]+ [MG]B, more than limits\.disk \(20 MB\)/),
  });
});

rootTest('F28: while nothing can be written, nothing is done; afterwards it is (needs root)', async () => {
  const { home, worker, enqueue } = lab('sealed');
  const go = `${fleet.root}/go-sealed`;
  await using held = await worker({}, { GO: go });
  const repo = await fleet.repo('repo-sealed');
  const id = await enqueue('hold', { repo, env: ['GO'] });
  await fleet.running(id);
  await until(async () => (await fleet.fleet.read(id, { file: 'log' })).text.includes('ready'));
  {
    using _seal = readOnly(home);
    await writeFile(go, '');
    await until(() => held.output().includes('nothing can be written to'));
    await until(async () => (await agents(id)).length === 0);
    const later = await enqueue('ok', { repo });
    const over = Date.now() + 5_000;
    await until(async () => {
      expect([await state(id), await state(later)]).toEqual(['running', 'queued']);
      return Date.now() > over;
    });
    await fleet.fleet.cancel(later);
  }
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 }, runs: [{ reason: null }] });
  await alive(held);
});

test('F29: short of file descriptors, a worker takes nothing in, and goes on when it has some', async () => {
  const { worker, enqueue } = lab('fds');
  await using held = await worker();
  const limit = (soft: number) => execFileSync('prlimit', ['--pid', String(held.pid), `--nofile=${soft}:`]);
  const repo = await fleet.repo('repo-fds');
  const live = await enqueue('wait', { repo });
  const { work } = await fleet.running(live);
  // Fewer than it wants, more than a step of a workflow needs: Node aborts where it has none for that.
  limit(readdirSync(`/proc/${held.pid}/fd`).length + 40);
  await until(() => held.output().includes('no file descriptors are left'));
  const id = await enqueue('ok', { repo });
  await writeFile(`${work}/go`, '');
  await until(async () => (await agents(live)).length === 0);
  const end = Date.now() + 5_000;
  await until(async () => {
    expect(await state(id)).toBe('queued');
    return Date.now() > end;
  });
  limit(4_096);
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', runs: [{ reason: null }] });
  expect(await fleet.settled(live)).toMatchObject({ state: 'done', runs: [{ reason: null }] });
  await alive(held);
});
