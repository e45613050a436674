import { afterAll, beforeAll, expect } from '@jest/globals';
import { bootSeconds } from '../../src/adapters/program/process.ts';
import { TestFleet } from '../helpers/fleet.ts';
import { onMachines, Scene } from './machines.ts';

/** How long a task waits for another worker with the lease as it is by default: 12 s, 40 s and 30 s. */
let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet?.[Symbol.asyncDispose]());

const DEFAULT = { heartbeat: '12s', grace: '40s', selfKill: '30s' };

async function secondsTo(name: string, lose: (scene: Scene) => Promise<void>): Promise<number> {
  await using scene = await Scene.set(fleet, name, { lease: DEFAULT, slots: 2 });
  const lostAt = bootSeconds();
  await lose(scene);
  const next = await scene.claimedElsewhere();
  const [, second] = await scene.lives();
  await scene.doneBy(next);
  await scene.neverTwo();
  const seconds = second!.from - lostAt;
  console.log(`${name}: claimed elsewhere, with a live agent, after ${seconds.toFixed(1)} s`);
  return seconds;
}

onMachines('F2: a machine that is gone with its connections closed: claimed elsewhere within 60 s', async () => {
  expect(await secondsTo('closed', ({ lost }) => lost.machine.kill())).toBeLessThan(60);
});
onMachines('F2: a machine in a black hole: claimed elsewhere within 70 s', async () => {
  expect(await secondsTo('silent', ({ lost }) => lost.machine.link('cut'))).toBeLessThan(70);
});
