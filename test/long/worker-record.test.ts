import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { workerRecordId } from '../../src/domain/names.ts';
import type { WorkerRecord } from '../../src/domain/worker/worker.ts';
import { oweSignal, workerQuery } from '../../src/workflows/messages.ts';
import { startHook } from '../helpers/hook.ts';
import { startOrderLab } from '../helpers/order-lab.ts';
import { until } from '../helpers/until.ts';

let lab: Awaited<ReturnType<typeof startOrderLab>>;

beforeAll(async () => {
  lab = await startOrderLab();
});
afterAll(() => lab.fleet[Symbol.asyncDispose]());

/** Short, and longer than a busy machine stands still. */
const SHORT = { heartbeat: '6s', grace: '20s', selfKill: '10s' };

test('says that it was lost, tells once, lists what it owes, and that it is back and has paid', async () => {
  const { fleet, cli, inState, known, go } = lab;
  const { worker, enqueue } = lab.on('lost');
  const hook = await startHook();
  const { told, webhook } = hook;
  try {
    const lost = await worker('lost-a', { lease: SHORT });
    const id = await enqueue();
    const live = await fleet.running(id);
    await using _ = await worker('lost-b', { lease: SHORT, alerts: { webhook } });
    // Its record knows of the run by its heartbeats.
    await until(async () => (await known(lost))?.view?.runs.length === 1);
    await lost.stop('SIGKILL');

    await inState(lost, 'silent', 'lost');
    const next = await fleet.running(id, 2);
    expect((await inState(lost, 'lost')).debts).toMatchObject([{ taskId: id, runId: live.runId }]);
    await until(() => told.length > 0);
    expect(told[0]).toMatchObject({ worker: lost.name, state: 'lost' });
    expect(told[0]!['message']).toMatch(/was not heard of for 26 s; it had 1 run, which go elsewhere/);
    const [row] = (await cli('workers')).split('\n').filter((line) => line.startsWith(lost.name));
    expect(row).toMatch(/ lost .*owes the clean-up of 1 run/);

    // A debt that it knows nothing of is paid as well.
    const recordId = workerRecordId((await known(lost))!.hostQueue);
    const record = fleet.client.workflow.getHandle(recordId);
    await record.signal(oweSignal, { taskId: 'never', runId: '1-00000000' });
    await using back = await worker('lost-a', { lease: SHORT });
    await inState(back, 'attached');
    await until(async () => (await known(back))?.debts.length === 0);
    expect((await readdir(`${back.home}/runs`)).filter((name) => name !== '.trash')).toEqual([]);
    const said: WorkerRecord = await record.query(workerQuery);
    expect(said).toMatchObject({ name: back.name, state: 'attached', slots: 1, queues: ['lost'], debts: [] });
    await go(next.work);
    await fleet.settled(id);
    expect(told).toHaveLength(1);
  } finally {
    hook.close();
  }
});

test('goes on where it was ended by hand, and grows with no beat', async () => {
  const { fleet, inState, known } = lab;
  const { worker } = lab.on('record');
  await using ada = await worker('record');
  const record = fleet.client.workflow.getHandle(workerRecordId((await known(ada))!.hostQueue));
  await ada.view();
  const { historyLength, runId } = await record.describe();
  await ada.view();
  await ada.view();
  expect((await record.describe()).historyLength).toBe(historyLength);

  await record.terminate('by hand');
  await until(async () => {
    const now = await record.describe();
    return now.runId !== runId && now.status.name === 'RUNNING';
  });
  await inState(ada, 'attached');
  expect((await ada.view()).pid).toBe(ada.pid);
});

test('of the last worker, which was killed, is shown as lost, though there is nobody to note it', async () => {
  const { fleet, inState, known } = lab;
  const alone = await lab.on('alone').worker('alone', { lease: SHORT });
  const record = fleet.client.workflow.getHandle(workerRecordId((await known(alone))!.hostQueue));
  await alone.stop('SIGKILL');
  await inState(alone, 'silent');
  await until(async () => !(await record.describe()).raw.pendingActivities?.length);
  await inState(alone, 'lost');
  expect((await record.describe()).memo).toMatchObject({ record: { state: 'attached' } });
  expect(await fleet.cli(['workers'])).toMatchObject({ stdout: expect.stringMatching(/alone.* lost /) });
});

test('of a worker that changed its queues goes on in the new one', async () => {
  const { fleet, inState, known } = lab;
  const first = await lab.on('old-queue').worker('moved');
  const record = fleet.client.workflow.getHandle(workerRecordId((await known(first))!.hostQueue));
  await first.stop('SIGTERM');
  await inState(first, 'detached');
  // Nobody polls its queue any more.
  expect((await record.describe()).taskQueue).toBe('old-queue');
  await using second = await lab.on('new-queue').worker('moved');
  expect((await record.describe()).taskQueue).toBe('new-queue');
  expect(await known(second)).toMatchObject({ state: 'attached', queues: ['new-queue'] });
});

test('tells once that its worker takes no new work where no person said so, and nothing of an order', async () => {
  const { cli, inState } = lab;
  const hook = await startHook();
  try {
    await using full = await lab
      .on('full')
      .worker('full', { alerts: { webhook: hook.webhook }, disk: { floor: '1000TB' } });
    expect((await inState(full, 'holding')).view?.holds).toHaveLength(1);
    await until(() => hook.told.length > 0);
    expect(hook.told).toMatchObject([{ worker: full.name, state: 'holding' }]);
    expect(hook.told[0]!['message']).toMatch(/^worker full-\d+ takes no new work: /);
    await cli('worker', 'pause', full.name, '--wait');
    await full.view();
    expect(hook.told).toHaveLength(1);
    await cli('worker', 'resume', full.name);
  } finally {
    hook.close();
  }
});
