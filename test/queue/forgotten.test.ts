import { chmodSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { doing, scripted } from '../helpers/scripted.ts';
import { until } from '../helpers/until.ts';

/** What a repository keeps of a task that is over: removed, or owed until it is. */

let fleet: TestFleet;
let shared: TestWorker;
beforeAll(async () => {
  fleet = await TestFleet.start();
  shared = await fleet.worker('shared', { lease: LEASE, worker: { slots: 2, queues: ['shared'] }, coders });
});
afterAll(() => fleet[Symbol.asyncDispose]());

/** Nobody waits for it: that would take longer than any limit here. */
const LEASE = { heartbeat: '6s', grace: '180s', selfKill: '45s' };
const coders = { scripted };

/** A bare repository by URL, and workers and tasks of a queue of its own. */
async function lab(name: string, queue = name) {
  const from = await fleet.repo(`${name}-from`, { 'a.txt': 'a\n' });
  const bare = `${fleet.root}/${name}.git`;
  await git(fleet.root, 'clone', '-q', '--bare', from, bare);
  const worker = (as: string, its: Parameters<TestFleet['worker']>[1] = { coders }) =>
    fleet.worker(`${name}-${as}`, { lease: LEASE, worker: { slots: 2, queues: [queue] }, ...its });
  return {
    bare,
    worker,
    /** One that carries workflows on, and runs none of these tasks. */
    other: () => worker('other', { coders: { other: agent('ok.sh') } }),
    kept: () => git(bare, 'for-each-ref', '--format=%(refname)', 'refs/fleet'),
    enqueue: (input: Partial<TaskInput>) =>
      fleet.fleet.enqueue({
        ...{ objective: doing('echo x > x.txt'), coder: 'scripted', repo: `file://${bare}`, queue },
        ...input,
      }),
  };
}
const PARKS: Partial<TaskInput> = { verify: ['false'], retry: { maxAttempts: 1 } };

const stateIs = (id: string, state: string) =>
  until(async () => (await fleet.fleet.view(id)).state === state, { timeoutMs: 120_000 });
const debtsOf = async ({ name }: Pick<TestWorker, 'name'>) =>
  (await fleet.fleet.workers()).find((worker) => worker.name === name)?.debts;

async function cancel(id: string, withinMs = 30_000): Promise<void> {
  const began = performance.now();
  await fleet.fleet.cancel(id);
  const handle = fleet.client.workflow.getHandle(id);
  await handle.result().catch(() => undefined);
  expect(performance.now() - began).toBeLessThan(withinMs);
  expect((await fleet.fleet.view(id)).state).toBe('cancelled');
}

test.each(['SIGKILL', 'SIGSTOP'] as const)(
  'a kept result is cancelled while its worker has had a %s: closed in time, owed until that is back',
  async (signal) => {
    const { worker, other, kept, enqueue } = await lab(signal.toLowerCase());
    const maker = await worker('maker');
    const id = await enqueue({ approval: 'before-deliver' });
    await stateIs(id, 'awaiting-approval');
    await using _other = await other();
    if (signal === 'SIGKILL') await maker.stop(signal);
    else maker.kill(signal);
    // One that stands still swallows the task's next steps for a while.
    await cancel(id, signal === 'SIGKILL' ? 30_000 : 90_000);
    // Its record waits until the server knows that it is not the one to carry that on.
    await until(async () => (await debtsOf(maker))?.length);
    expect(await debtsOf(maker)).toMatchObject([{ taskId: id, forget: 'cancelled' }]);
    expect((await fleet.cli(['workers'])).stdout).toContain('owes the clean-up of what 1 task left at the repository');
    expect(await kept()).toBe(`refs/fleet/${id}/wip`);
    const back = signal === 'SIGKILL' ? await worker('maker') : maker;
    if (signal === 'SIGSTOP') maker.kill('SIGCONT');
    await until(async () => (await debtsOf(back))?.length === 0, { timeoutMs: 120_000 });
    expect(await kept()).toBe('');
    await back.stop('SIGKILL');
  },
  300_000,
);

test('a remote that hangs holds nobody up: it is asked again', async () => {
  const { bare, kept, enqueue } = await lab('hanging', 'shared');
  const id = await enqueue(PARKS);
  await stateIs(id, 'parked');
  const hook = `${bare}/hooks/pre-receive`;
  writeFileSync(hook, '#!/bin/sh\nexec sleep 3600\n');
  chmodSync(hook, 0o755);
  await cancel(id);
  await until(async () => (await debtsOf(shared))?.length);
  expect(await debtsOf(shared)).toMatchObject([{ taskId: id, forget: 'cancelled' }]);
  expect(await kept()).toBe(`refs/fleet/${id}/wip`);
  await rm(hook);
  await until(async () => (await debtsOf(shared))?.length === 0, { timeoutMs: 120_000 });
  expect(await kept()).toBe('');
}, 300_000);

test('a task that is given up leaves its work on its worker only', async () => {
  const { kept, enqueue } = await lab('given-up', 'shared');
  const id = await enqueue(PARKS);
  await stateIs(id, 'parked');
  expect(await kept()).toBe(`refs/fleet/${id}/wip`);
  await fleet.fleet.giveUp(id, 'not worth it');
  await fleet.client.workflow
    .getHandle(id)
    .result()
    .catch(() => undefined);
  const { state, runs } = await fleet.fleet.view(id);
  expect(state).toBe('failed');
  await until(async () => (await kept()) === '');
  const vault = (await readdir(`${shared.home}/vault`)).find((name) => name.startsWith('given-up-'));
  const saved = await git(`${shared.home}/vault/${vault}`, 'for-each-ref', '--format=%(refname)');
  expect(saved).toContain(`refs/fleet/${id}/${runs[0]!.runId}`);
}, 300_000);

test('of a parked task that a person accepts nothing stays, nor of the merge that it started from', async () => {
  const { kept, enqueue } = await lab('accepted', 'shared');
  const needs = await Promise.all(
    ['y', 'z'].map((file) => enqueue({ objective: doing(`echo ${file} > ${file}.txt`) })),
  );
  const id = await enqueue({ ...PARKS, dependsOn: needs });
  await stateIs(id, 'parked');
  expect((await kept()).split('\n').filter((ref) => ref.includes(id))).toEqual([
    `refs/fleet/${id}/base`,
    `refs/fleet/${id}/wip`,
  ]);
  await fleet.fleet.accept(id, 'good enough');
  await stateIs(id, 'done');
  await until(async () => (await kept()) === '');
}, 300_000);
