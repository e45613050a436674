import { afterAll, beforeAll, expect } from '@jest/globals';
import { bootSeconds } from '../../src/adapters/program/process.ts';
import { TestFleet } from '../helpers/fleet.ts';
import { agents } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';
import { exitOf, go, onMachines, Scene, SHORT } from './machines.ts';

/** What a worker that was lost may still do when it is back: end its agent, and offer what it had finished. */
let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet?.[Symbol.asyncDispose]());

/** Time for an agent to end by itself while its worker is cut off. */
const PATIENT = { heartbeat: '3s', grace: '25s', selfKill: '10s' };

/** The agent ends well while its worker is cut off, and the task is given up as lost. */
async function finishedUnseen(scene: Scene): Promise<void> {
  await scene.lost.machine.link('cut');
  await go(scene.live);
  await until(() => exitOf(scene.lost.worker, scene.id, scene.live.runId));
  expect(await exitOf(scene.lost.worker, scene.id, scene.live.runId)).toMatchObject({ stopped: null });
}

onMachines('F4: a late result goes through its receipts where the task is still open', async () => {
  await using scene = await Scene.set(fleet, 'late', { lease: PATIENT });
  const blocker = await scene.enqueue();
  const blocking = await fleet.running(blocker);
  await finishedUnseen(scene);
  await until(async () => (await fleet.fleet.view(scene.id)).runs[0]?.reason === 'host-lost', { timeoutMs: 60_000 });
  await scene.lost.machine.link('healthy');
  const report = await fleet.settled(scene.id, 120_000);
  expect(report).toMatchObject({
    state: 'done',
    runs: [{ runId: scene.live.runId, reason: null, late: null }],
    verdict: { accepted: true },
  });
  expect(report.runs).toHaveLength(1);
  await go(blocking);
  await fleet.settled(blocker);
  await scene.deliveredBy(scene.live.runId);
  await scene.neverTwo();
  await scene.nothingLeft();
});

onMachines('F4: a late result is kept as superseded where a newer run was accepted', async () => {
  await using scene = await Scene.set(fleet, 'newer', { lease: PATIENT });
  await finishedUnseen(scene);
  const next = await scene.claimedElsewhere();
  await scene.lost.machine.link('healthy');
  await until(async () => (await fleet.fleet.view(scene.id)).runs[0]?.late === 'candidate', { timeoutMs: 90_000 });
  await scene.doneBy(next);
  expect((await fleet.fleet.view(scene.id)).runs[0]).toMatchObject({ late: 'superseded' });
  await scene.neverTwo();
  await scene.nothingLeft();
});

onMachines(
  'F25: a machine that was asleep for longer than its lease ends its agent within a tick of waking up',
  async () => {
    await using scene = await Scene.set(fleet, 'asleep');
    const { machine } = scene.lost;
    await machine.signal('SIGSTOP');
    const next = await scene.claimedElsewhere();
    const wokeAt = bootSeconds();
    await machine.signal('SIGCONT');
    await until(async () => (await agents(scene.id)).length === 1);
    await scene.doneBy(next);
    const [late] = await scene.lives();
    expect(late).toMatchObject({ runId: scene.live.runId });
    // A tick, and half a second for a busy machine.
    expect(late!.to - wokeAt).toBeLessThan(1.5);
    await scene.nothingLeft();
  },
);

onMachines('F25: a worker that was stopped for longer than its lease finds its agent ended', async () => {
  await using scene = await Scene.set(fleet, 'stopped', { lease: SHORT });
  scene.lost.worker.kill('SIGSTOP');
  const next = await scene.claimedElsewhere();
  scene.lost.worker.kill('SIGCONT');
  await scene.doneBy(next);
  await scene.neverTwo();
  await scene.nothingLeft();
});
