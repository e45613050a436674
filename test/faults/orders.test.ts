import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FleetWorker } from '../../src/client.ts';
import { orderId } from '../../src/domain/names.ts';
import type { Tally } from '../../src/domain/worker/worker.ts';
import { strays } from '../helpers/strays.ts';
import { agents } from '../helpers/live-agents.ts';
import { startOrderLab } from '../helpers/order-lab.ts';
import { until } from '../helpers/until.ts';

let lab: Awaited<ReturnType<typeof startOrderLab>>;

beforeAll(async () => {
  lab = await startOrderLab();
}, 120_000);
afterAll(() => lab.fleet[Symbol.asyncDispose]());

const sumOf = ({ done, failed, cancelled, parked, handedOver, kept, live }: Tally) =>
  done + failed + cancelled + parked + handedOver + kept + live;

describe('pause and resume', () => {
  test('of one worker, from any machine: its run goes on, and it claims nothing more until it is resumed', async () => {
    const { fleet, cli, explained, go } = lab;
    const { worker, enqueue } = lab.on('one');
    await using ada = await worker('ada');
    const first = await enqueue();
    const live = await fleet.running(first);

    expect(await cli('worker', 'pause', ada.name, '--why', 'disk check', '--wait')).toContain('is paused');
    await go(live.work);
    expect(await fleet.settled(first)).toMatchObject({ state: 'done', attempts: { used: 1 } });
    const second = await enqueue({ coder: 'ok' });
    await explained(second, new RegExp(`worker ${ada.name} takes no new work: .* is paused by .*@.* \\(disk check\\)`));
    await explained(second, new RegExp(`fleet worker resume ${ada.name}`));
    const [row] = (await cli('workers')).split('\n').filter((line) => line.startsWith(ada.name));
    expect(row).toMatch(/ paused .* is paused by .* \(disk check\): fleet worker resume/);

    expect(await cli('worker', 'resume', ada.name)).toContain('takes new work again');
    expect(await fleet.settled(second)).toMatchObject({ state: 'done' });
    await ada.stop('SIGTERM');
  }, 120_000);

  test('of all: also a worker that attaches meanwhile holds; fleet resume says whose own orders stand', async () => {
    const { fleet, cli, inState, explained } = lab;
    const { worker, enqueue } = lab.on('all');
    await using ada = await worker('all-a');
    expect(await cli('pause', '--why', 'a move')).toContain('fleet resume');
    await inState(ada, 'paused');
    await using eve = await worker('all-b');
    expect((await inState(eve, 'paused')).view?.holds).toEqual([expect.stringContaining('the fleet is paused by')]);
    const id = await enqueue({ coder: 'ok' });
    await explained(id, /^waiting: the fleet is paused by .*@.* at .* \(a move\): fleet resume/);
    expect((await fleet.cli(['tasks'])).stderr).toContain('the fleet is paused by');

    await cli('worker', 'pause', ada.name);
    expect(await cli('resume')).toMatch(
      new RegExp(`takes new work again\n${ada.name} has an order of its own \\(pause\\)`),
    );
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', runs: [{ worker: eve.name }] });
    expect(await inState(ada, 'paused')).toMatchObject({ view: { order: { mode: 'pause' } } });
    await cli('worker', 'resume', ada.name);
    await inState(ada, 'attached');
    await Promise.all([ada.stop('SIGTERM'), eve.stop('SIGTERM')]);
  }, 120_000);

  test('an order to a worker that is gone waits for it, and holds it when it returns', async () => {
    const { fleet, cli, inState, explained } = lab;
    const { worker, enqueue } = lab.on('gone');
    const first = await worker('gone');
    await first.stop('SIGTERM');
    await inState(first, 'detached');
    expect(await cli('worker', 'pause', first.name)).toContain('is not attached: the order waits for it');
    const id = await enqueue({ coder: 'ok' });
    await using back = await worker('gone');
    expect(back.output()).toContain('this worker is paused by');
    await explained(id, /takes no new work/);
    expect((await fleet.fleet.view(id)).runs).toEqual([]);
    await cli('worker', 'resume', back.name);
    expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
    await back.stop('SIGTERM');
  }, 120_000);
});

describe('a drain', () => {
  test('from another machine: the runs end, then the worker, with a report that adds up over a restart', async () => {
    const { fleet, cli, inState, go } = lab;
    const { worker, enqueue } = lab.on('drain');
    const first = await worker('drain', { worker: { slots: 4 } });
    const done = await enqueue({ coder: 'ok' });
    await fleet.settled(done);
    const parked = await enqueue({ coder: 'ok', verify: ['false'], retry: { maxAttempts: 2, backoff: '1s' } });
    expect(await fleet.settled(parked)).toMatchObject({ state: 'parked', attempts: { used: 2 } });
    const [last, cancelled] = [await enqueue(), await enqueue()];
    const live = await fleet.running(last);
    await fleet.running(cancelled);
    await cli('worker', 'drain', first.name, '--why', 'a new disk');
    await inState(first, 'draining');
    await fleet.fleet.cancel(cancelled);
    await fleet.settled(cancelled);

    // Neither a kill nor a restart in the middle loses a count, or the order.
    await first.stop('SIGKILL');
    const second = await worker('drain', { worker: { slots: 4 } });
    expect(await agents(last)).toEqual([live]);
    const waiting = await enqueue({ coder: 'ok' });
    const drained = fleet.cli(['worker', 'drain', second.name, '--wait', '--json']);
    await go(live.work);
    expect(await fleet.settled(last)).toMatchObject({ state: 'done', runs: [{ runId: live.runId }] });
    expect(await second.exited).toBe(0);
    expect(second.output()).toContain(
      'drained: 5 taken in = 2 done + 1 failed + 1 cancelled + 1 parked + 0 handed over',
    );
    const [said] = JSON.parse((await drained).stdout) as FleetWorker[];
    expect(said).toMatchObject({ state: 'detached', report: { takenIn: 5, done: 2, live: 0 } });
    expect(sumOf(said!.report!)).toBe(said!.report!.takenIn);
    expect(await strays(`${second.home}/runs`)).toEqual([]);
    expect((await fleet.fleet.view(waiting)).runs).toEqual([]);

    // Started again it counts anew, stays, and takes nothing in for as long as the order stands.
    await using third = await worker('drain');
    await inState(third, 'draining');
    expect((await fleet.fleet.view(waiting)).runs).toEqual([]);
    await cli('worker', 'resume', second.name);
    expect(await fleet.settled(waiting)).toMatchObject({ state: 'done' });
    expect((await third.view()).tally).toMatchObject({ takenIn: 1, done: 1 });
    await third.stop('SIGTERM');
  }, 180_000);
});

describe('fleet stop --now', () => {
  test('ends agents that ignore signals on every worker; their tasks wait, use no attempt, and go on with fleet resume', async () => {
    const { fleet, cli, explained } = lab;
    const { worker, enqueue } = lab.on('stop');
    await using ada = await worker('stop-a', { worker: { slots: 2 } });
    await using eve = await worker('stop-b', { worker: { slots: 2 } });
    const ids = await Promise.all(Array.from({ length: 4 }, () => enqueue({ coder: 'stubborn' })));
    for (const id of ids) await fleet.running(id);

    const startedAt = performance.now();
    const ran = await cli('stop', '--now', '--why', 'a leak');
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    expect(ran).toMatch(/^4 agents of 2 workers are down, after [\d.]+ s; their tasks wait for fleet resume$/);
    expect((await Promise.all(ids.map(agents))).flat()).toEqual([]);
    for (const id of ids) {
      await until(async () => (await fleet.fleet.view(id)).state === 'queued', { timeoutMs: 30_000 });
      expect(await fleet.fleet.view(id)).toMatchObject({ attempts: { used: 0 }, runs: [{ reason: 'killed' }] });
    }
    await explained(ids[0]!, /^waiting: the fleet is stopped by .* \(a leak\): fleet resume/);
    for (const each of [ada, eve]) expect(await strays(`${each.home}/runs`)).toEqual([]);

    await cli('resume');
    for (const id of ids) await fleet.running(id, 2);
    await Promise.all(ids.map((id) => fleet.fleet.cancel(id)));
    for (const id of ids) await fleet.settled(id);
    await Promise.all([ada.stop('SIGTERM'), eve.stop('SIGTERM')]);
  }, 180_000);

  test('names a worker that does not answer', async () => {
    const { fleet, cli } = lab;
    const { worker } = lab.on('deaf');
    await using deaf = await worker('deaf');
    deaf.kill('SIGSTOP');
    const ran = await fleet.cli(['stop', '--now']);
    deaf.kill('SIGCONT');
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.stdout).toContain(`worker ${deaf.name} did not answer`);
    await cli('resume');
  }, 120_000);
});

test('an order stands alone: nobody polls its queue', async () => {
  const { fleet, cli } = lab;
  await cli('pause');
  const { status, taskQueue } = await fleet.client.workflow.getHandle(orderId()).describe();
  expect({ status: status.name, taskQueue }).toEqual({ status: 'RUNNING', taskQueue: 'fleet-orders' });
  await cli('pause', '--why', 'again');
  expect(await fleet.fleet.orders.list()).toMatchObject([{ worker: null, mode: 'pause', why: 'again' }]);
  await cli('resume');
  expect(await fleet.fleet.orders.list()).toEqual([]);
});
