import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { strays } from '../helpers/strays.ts';
import { agents } from '../helpers/live-agents.ts';
import { startOrderLab } from '../helpers/order-lab.ts';
import { until } from '../helpers/until.ts';

let lab: Awaited<ReturnType<typeof startOrderLab>>;

beforeAll(async () => {
  lab = await startOrderLab();
}, 120_000);
afterAll(() => lab.fleet[Symbol.asyncDispose]());

test('F44: TERM to a worker that drains: its run ends by itself, it takes no other, and leaves with a report', async () => {
  const { fleet, inState, go } = lab;
  const { worker, enqueue } = lab.on('drain');
  const draining = await worker('drain', { worker: { onTerm: 'drain' } });
  const id = await enqueue();
  const live = await fleet.running(id);
  draining.kill('SIGTERM');
  expect((await inState(draining, 'draining')).view?.runs).toMatchObject([{ taskId: id }]);
  const next = await enqueue({ coder: 'ok' });
  expect(await agents(id)).toEqual([live]);
  await go(live.work);
  expect(await fleet.settled(id)).toMatchObject({
    state: 'done',
    attempts: { used: 1 },
    runs: [{ runId: live.runId }],
  });
  expect(await draining.exited).toBe(0);
  expect(draining.output()).toContain('draining: 1 run to finish');
  expect(draining.output()).toContain(
    'drained: 1 taken in = 1 done + 0 failed + 0 cancelled + 0 parked + 0 handed over',
  );
  expect(await inState(draining, 'detached')).toMatchObject({ report: { takenIn: 1, done: 1 }, debts: [] });
  await using other = await worker('other');
  expect(await fleet.settled(next)).toMatchObject({ state: 'done', runs: [{ worker: other.name }] });
}, 180_000);

test('F44: a drain names the accepted results that only this worker can deliver; started again, it delivers them', async () => {
  const { fleet, cli, explained } = lab;
  const { worker, enqueue } = lab.on('keeps');
  const first = await worker('keeps');
  const kept = await enqueue({ coder: 'ok', approval: 'before-deliver' });
  await until(async () => (await fleet.fleet.view(kept)).state === 'awaiting-approval', { timeoutMs: 60_000 });
  const done = await enqueue({ coder: 'ok' });
  expect(await fleet.settled(done)).toMatchObject({ state: 'done' });

  const said = await cli('worker', 'drain', first.name, '--wait', '--why', 'a new disk');
  const report = '2 taken in = 1 done + 0 failed + 0 cancelled + 0 parked + 0 handed over + 1 kept';
  const keeps = `it keeps 1 accepted result that no other worker can deliver: ${kept}. Start it again`;
  expect(said).toContain(`has left: ${report}\n${keeps}`);
  expect(await first.exited).toBe(0);
  expect(first.output()).toContain(`drained: ${report}\n${keeps}`);
  expect((await lab.known(first))?.report).toMatchObject({ kept: 1, handedOver: 0, keeps: [kept] });
  expect(await cli('workers', '--all')).toContain('it keeps 1 accepted result');
  // No worker is there to tell what the yes is for.
  await explained(kept, /^it waits for a person to approve it: .*no attached worker answers on queue \S+/);

  await using again = await worker('keeps');
  await fleet.fleet.approve(kept, { by: 'jo', why: '' });
  expect(await fleet.settled(kept)).toMatchObject({ state: 'done', branch: `fleet/${kept}` });
  await again.stop('SIGTERM');
}, 180_000);

test('F44: a second TERM is now: the agent is down, and its task is claimed elsewhere without an attempt used', async () => {
  const { fleet, inState } = lab;
  const { worker, enqueue } = lab.on('twice');
  const draining = await worker('twice', { worker: { onTerm: 'drain' } });
  const id = await enqueue({ coder: 'stubborn' });
  await fleet.running(id);
  draining.kill('SIGTERM');
  await inState(draining, 'draining');
  await draining.stop('SIGTERM');
  expect(await strays(`${draining.home}/runs`)).toEqual([]);
  await using _ = await worker('twice-b');
  await until(async () => (await fleet.fleet.view(id)).runs.length === 2, { timeoutMs: 120_000 });
  await fleet.running(id, 2);
  expect(await fleet.fleet.view(id)).toMatchObject({ attempts: { used: 0 }, runs: [{ reason: 'host-lost' }, {}] });
  await fleet.fleet.cancel(id);
  await fleet.settled(id);
}, 300_000);

test('F21: a second worker of one home, or one name, is refused with exit code 2, and the first goes on', async () => {
  const { fleet } = lab;
  const { worker, enqueue } = lab.on('second');
  await using first = await worker('second');
  const sameHome = await fleet.cli(['worker', '--name', 'another'], { env: { FLEET_HOME: first.home } });
  expect(sameHome).toMatchObject({ code: 2, stdout: '' });
  expect(sameHome.stderr).toMatch(/^fleet: a worker is already running in .*: stop it, or set FLEET_HOME/);
  const home = `${fleet.root}/second-b`;
  const sameName = await fleet.cli(['worker', '--name', first.name], { env: { FLEET_HOME: home } });
  expect(sameName).toMatchObject({ code: 2, stdout: '' });
  expect(sameName.stderr).toMatch(/^fleet: a worker named .* is already running on this machine: choose another/);
  expect(await readdir(home)).not.toContain('worker.id');

  expect((await first.view()).pid).toBe(first.pid);
  const id = await enqueue({ coder: 'ok' });
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', runs: [{ worker: first.name }] });
  expect((await fleet.fleet.workers()).filter(({ name }) => name === first.name)).toHaveLength(1);
}, 120_000);
