import { afterAll, beforeAll, expect } from '@jest/globals';
import { bootSeconds } from '../../src/adapters/program/process.ts';
import { TestFleet } from '../helpers/fleet.ts';
import type { Link } from '../helpers/network.ts';
import { until } from '../helpers/until.ts';
import { onMachines, Scene, type SceneOptions } from './machines.ts';

/**
 * Rows F2 to F5: what happens to a task while its worker, the keeper and the agent live on and cannot reach the server,
 * or are all gone at once. An agent tells its own story outside of the fleet, and this host watches all of them.
 */
let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet?.[Symbol.asyncDispose]());

/** The worker is lost by `link`: its agent is ended before another worker's begins, and after the heal nothing is left. */
async function lostBy(name: string, link: Link, options: SceneOptions = {}): Promise<void> {
  await using scene = await Scene.set(fleet, name, options);
  await scene.lost.machine.link(link);
  const next = await scene.claimedElsewhere();
  await scene.doneBy(next);
  await scene.neverTwo();
  await scene.lost.machine.link('healthy');
  await scene.nothingLeft();
}

onMachines('F2: a black hole in both directions', () => lostBy('black-hole', 'cut'));
onMachines('F2: the open polls of a worker in a black hole swallow the claim, and another one gets it', () =>
  lostBy('swallow', 'cut', { slots: 3 }),
);
onMachines('F2: a server that refuses connections', () => lostBy('refused', 'refused'));
onMachines('F3: nothing goes out, tasks come in', () => lostBy('mute', 'mute', { slots: 3 }));
onMachines('F3: nothing comes in, heartbeats go out', () => lostBy('deaf', 'deaf', { slots: 3 }));

onMachines('F2: the whole machine is gone at once', async () => {
  await using scene = await Scene.set(fleet, 'dead');
  const { name, machine } = scene.lost;
  await machine.kill();
  const next = await scene.claimedElsewhere();
  await scene.doneBy(next);
  await scene.neverTwo();
  scene.lost.worker = await scene.attach(name, machine);
  await scene.nothingLeft();
});

onMachines('F4: healed as soon as the task is elsewhere: the older run is ended, kept, and never merged', async () => {
  await using scene = await Scene.set(fleet, 'early');
  await scene.lost.machine.link('cut');
  const next = await scene.claimedElsewhere();
  await scene.lost.machine.link('healthy');
  await scene.nothingLeft([scene.lost]);
  expect((await fleet.fleet.view(scene.id)).runs[0]).toMatchObject({
    reason: 'host-lost',
    saved: { commit: expect.any(String) },
  });
  await scene.doneBy(next);
  await scene.neverTwo();
  await scene.nothingLeft();
});

onMachines('F4: healed after three times the lease', async () => {
  await using scene = await Scene.set(fleet, 'late');
  const cutAt = bootSeconds();
  await scene.lost.machine.link('cut');
  const next = await scene.claimedElsewhere();
  await until(() => bootSeconds() - cutAt > 54, { timeoutMs: 60_000 });
  await scene.lost.machine.link('healthy');
  await scene.nothingLeft([scene.lost]);
  await scene.doneBy(next);
  await scene.neverTwo();
  await scene.nothingLeft();
});

/** The link is bad and not gone: whatever the fleet makes of it, there is one agent at a time, and the task is done. */
async function bearable(name: string, trouble: (scene: Scene) => Promise<() => Promise<void>>): Promise<void> {
  await using scene = await Scene.set(fleet, name);
  const mend = await trouble(scene);
  const since = bootSeconds();
  await until(() => bootSeconds() - since > 40, { timeoutMs: 60_000 });
  await mend();
  const report = await until(
    async () => {
      await scene.letAllEnd();
      const view = await fleet.fleet.view(scene.id).catch(() => undefined);
      return view?.state === 'done' && view;
    },
    { timeoutMs: 90_000 },
  );
  expect(report.attempts.used).toBe(1);
  expect(report.runs.slice(0, -1).map(({ reason, counts }) => [reason, counts])).toEqual(
    report.runs.slice(1).map(() => ['host-lost', false]),
  );
  await scene.deliveredBy(report.runs.at(-1)!.runId);
  await scene.neverTwo();
  await scene.nothingLeft();
}

onMachines('F5: 20 % of all packets are lost', () =>
  bearable('lossy', async ({ lost: { machine } }) => {
    await machine.link('lossy');
    return () => machine.link('healthy');
  }),
);
onMachines('F5: a link of 64 kbit/s', () =>
  bearable('slow', async ({ lost: { machine } }) => {
    await machine.link('slow');
    return () => machine.link('healthy');
  }),
);
onMachines('F5: a link that comes and goes each 4 seconds', () =>
  bearable('flapping', async ({ lost: { machine } }) => machine.flap(4_000).stop),
);
