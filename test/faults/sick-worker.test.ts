import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PartialConfig } from '../../src/config.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { sickProgram } from '../helpers/sick-program.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const coders = { ok: agent('ok.sh') };
const DIES = 'kill -SEGV $$';
/** All but the question for its version. */
const ANY = '*--version*) ;; *';

/** Workers on a queue of their own, and tasks for them. */
async function lab(queue: string) {
  const repo = await fleet.repo(`repo-${queue}`);
  return {
    worker: (name: string, env: Record<string, string> = {}, config: PartialConfig = {}) =>
      fleet.worker(
        `${queue}-${name}`,
        { coders, ...config, worker: { slots: 1, queues: [queue], ...config.worker } },
        { env },
      ),
    enqueue: (count: number, input: Partial<TaskInput> = {}) =>
      Promise.all(
        Array.from({ length: count }, () =>
          fleet.fleet.enqueue({ objective: 'x', coder: 'ok', repo, queue, ...input }),
        ),
      ),
  };
}

const stateOf = async ({ name }: TestWorker) =>
  (await fleet.fleet.workers()).find((worker) => worker.name === name)?.state;
const holds = (worker: TestWorker) => until(async () => (await stateOf(worker)) === 'holding');

test('a worker whose git dies by a signal leaves all tasks to the one beside it, and works again once git does', async () => {
  const { worker, enqueue } = await lab('dies');
  const git = await sickProgram(`${fleet.root}/dies-bin`, { name: 'git', when: ANY, end: DIES });
  const alerts = `${fleet.root}/dies-alerts`;
  await using sick = await worker('sick', git.env, { alerts: { command: ['sh', '-c', `cat >> ${alerts}`] } });
  await git.sicken();
  // Alone with them: they wait, and are not run again and again.
  const first = await enqueue(3);
  await holds(sick);
  // The one that met it ends its run first.
  const waiting = await until(async () => {
    const views = await Promise.all(first.map((id) => fleet.fleet.view(id)));
    return views.every(({ state }) => state === 'queued') && views;
  });
  expect(waiting.flatMap(({ runs }) => runs.map(({ reason, counts }) => [reason, counts]))).toEqual([
    ['machine-fault', false],
  ]);
  expect((await sick.view()).holds.join()).toContain('git was ended by SIGSEGV');
  expect(sick.output()).toContain('no new work is taken in: git was ended by SIGSEGV');
  await until(async () => (await readFile(alerts, 'utf8').catch(() => '')).includes('git was ended by SIGSEGV'));

  await using _good = await worker('good');
  const ids = [...first, ...(await enqueue(7))];
  for (const id of ids) expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });

  await git.heal();
  await until(async () => (await stateOf(sick)) === 'attached', { timeoutMs: 60_000 });
  expect(sick.output()).toContain('new work is taken in again (machine)');
});

test('a worker starts although its git dies, and says so before it takes anything in', async () => {
  const { worker, enqueue } = await lab('start');
  const git = await sickProgram(`${fleet.root}/start-bin`, { name: 'git', when: ANY, end: 'kill -KILL $$' });
  await git.sicken();
  await using sick = await worker('sick', git.env);
  expect(sick.output()).toContain('no new work is taken in: git was ended by SIGKILL');
  const [id] = await enqueue(1);
  await holds(sick);
  await git.heal();
  expect(await fleet.settled(id!)).toMatchObject({ state: 'done', runs: [{ reason: null }] });
});

test('one whose check passes and whose runs fail all the same rests, and others do its tasks', async () => {
  const { worker, enqueue } = await lab('passes');
  const git = await sickProgram(`${fleet.root}/passes-bin`, { name: 'git', when: '*rev-parse*', end: DIES });
  await git.sicken();
  await using sick = await worker('sick', git.env);
  const ids = await enqueue(4);
  await until(async () => {
    const views = await Promise.all(ids.map((id) => fleet.fleet.view(id)));
    return views.some(({ runs }) => runs.some(({ reason }) => reason === 'machine-fault'));
  });
  await using _good = await worker('good');
  for (const id of [...ids, ...(await enqueue(6))]) {
    const { state, runs, attempts } = await fleet.settled(id);
    expect([state, attempts.used, runs.at(-1)?.reason]).toEqual(['done', 1, null]);
    expect(runs.slice(0, -1).every(({ reason, counts }) => reason === 'machine-fault' && !counts)).toBe(true);
  }
  expect(await stateOf(sick)).toBe('holding');
  expect((await sick.view()).holds.join()).toContain('runs in a row could not be done here');
});

test('a repository that one worker cannot reach is tried by another one, and parks where none can', async () => {
  const { worker, enqueue } = await lab('reach');
  const bare = `${fleet.root}/reach.git`;
  const none = `${fleet.root}/none.git`;
  for (const to of [bare, none]) await rename(`${await fleet.repo(`${basename(to)}-source`)}/.git`, to);
  const cannot = (name: string, when: string) =>
    sickProgram(`${fleet.root}/${name}-bin`, { name: 'git', when, end: 'exit 128' });
  const sickGit = await cannot('reach-sick', '*/reach.git*|*/none.git*');
  const goodGit = await cannot('reach-good', '*/none.git*');
  for (const git of [sickGit, goodGit]) await git.sicken();
  await using _sick = await worker('sick', sickGit.env);
  const repo = `file://${bare}`;
  // With nobody else to ask it is the repository's.
  const [alone] = await enqueue(1, { repo });
  expect(await fleet.settled(alone!)).toMatchObject({ state: 'parked', reason: 'repo-unavailable', runs: [{}] });
  await using _good = await worker('good', goodGit.env);
  const ids = await enqueue(8, { repo });
  for (const id of ids) expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });
  const met = (await Promise.all(ids.map((id) => fleet.fleet.view(id)))).flatMap(({ runs }) =>
    runs.filter(({ reason }) => reason === 'repo-unavailable'),
  );
  expect(met.every(({ counts, local }) => !counts && local)).toBe(true);
  // Each is tried there once, at most; it is one repository, and the worker goes on with others.
  expect(met.length).toBeLessThanOrEqual(ids.length);
  // What none can reach is nobody's own.
  const [nowhere] = await enqueue(1, { repo: `file://${none}` });
  expect(await fleet.settled(nowhere!)).toMatchObject({ state: 'parked', reason: 'repo-unavailable' });
});

test('a push whose git dies is made again, or held with its result: the work is not done a second time', async () => {
  const { worker, enqueue } = await lab('push');
  const bare = `${fleet.root}/push.git`;
  await rename(`${await fleet.repo('push-source')}/.git`, bare);
  const died = `${fleet.root}/push-died`;
  const git = await sickProgram(`${fleet.root}/push-bin`, {
    ...{ name: 'git', when: '*" push "*fleet/*', end: `echo >> ${died}; ${DIES}` },
  });
  await using _only = await worker('only', git.env);
  const deaths = async () => (await readFile(died, 'utf8').catch(() => '')).length;
  await git.sicken();
  const [id] = await enqueue(1, { repo: `file://${bare}` });
  await until(async () => (await deaths()) > 1);
  await git.heal();
  expect(await fleet.settled(id!)).toMatchObject({ state: 'done', runs: [{ reason: null }] });

  await git.sicken();
  const [held] = await enqueue(1, { repo: `file://${bare}` });
  expect(await fleet.settled(held!)).toMatchObject({
    ...{ state: 'parked', reason: 'machine-fault', runs: [{ reason: 'machine-fault', counts: false }] },
  });
  await git.heal();
  await fleet.fleet.accept(held!, 'git works again');
  expect(await fleet.settled(held!)).toMatchObject({ state: 'done', runs: [{}] });
});

test('a setup command that one worker has not got costs no attempt where another one has it', async () => {
  const { worker, enqueue } = await lab('setup');
  const repo = await fleet.repo('setup-tool', { '.fleet.yaml': 'setup: [made-up-tool]\n' });
  const bin = `${fleet.root}/setup-bin`;
  await mkdir(bin);
  await writeFile(`${bin}/made-up-tool`, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  await using _without = await worker('without');
  const first = await enqueue(1, { repo, retry: { maxAttempts: 2, backoff: '1s' } });
  expect(await fleet.settled(first[0]!)).toMatchObject({ state: 'parked', reason: 'check-cannot-start' });
  await using _with = await worker('with', { PATH: `${bin}:${process.env['PATH']}` });
  const ids = await enqueue(6, { repo, retry: { maxAttempts: 1 } });
  for (const id of ids) expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });
});

test('a coder whose program dies before it says a word, on one worker only, costs no attempt', async () => {
  const { worker, enqueue } = await lab('coder');
  const real = `exec ${process.execPath} ${fileURLToPath(new URL('../fixtures/agents/usage.mjs', import.meta.url))} 10 5`;
  const place = async (name: string, script: string) => {
    const dir = `${fleet.root}/coder-${name}-bin`;
    await mkdir(dir);
    const text = `#!/bin/sh\n[ "$1" != --version ] || exec echo 1.0.0\n${script}\n`;
    await writeFile(`${dir}/made-up-coder`, text, { mode: 0o755 });
    return { PATH: `${dir}:${process.env['PATH']}` };
  };
  const made = { coders: { made: { command: ['made-up-coder'], protocol: 'claude' as const } } };
  await using sick = await worker('sick', await place('sick', DIES), made);
  const ids = await enqueue(4, { coder: 'made', retry: { maxAttempts: 1 } });
  await holds(sick);
  expect((await sick.view()).holds.join()).toContain('coder made was ended by SIGSEGV before it said anything');
  await using _good = await worker('good', await place('good', real), made);
  for (const id of [...ids, ...(await enqueue(3, { coder: 'made', retry: { maxAttempts: 1 } }))])
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });
});
