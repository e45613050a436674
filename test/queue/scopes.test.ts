import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('repo');
  await fleet.worker('wide', { worker: { slots: 4 }, coders: { wait: agent('wait-for-file.sh') } });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (allow: string[], overlap: 'serialize' | 'allow' = 'serialize') =>
  fleet.fleet.enqueue({ objective: 'x', repo, coder: 'wait', overlap, scope: { allow } });
const stateOf = async (id: string) => (await fleet.fleet.view(id)).state;
const go = async (id: string) => writeFile(`${(await fleet.running(id, 1)).work}/go`, '');

test('two whose scopes overlap run one after the other; others do not wait', async () => {
  const first = await enqueue(['made.txt', 'src/**']);
  await fleet.running(first, 1);
  const second = await enqueue(['made.txt', 'src/a/*.ts']);
  await until(async () => (await stateOf(second)) === 'blocked');
  const third = await enqueue(['made.txt']);
  const other = await enqueue(['docs/**', 'MADE2.txt']);
  const careless = await enqueue(['src/**', 'made.txt'], 'allow');
  await fleet.running(other, 1);
  await fleet.running(careless, 1);
  await until(async () => (await stateOf(third)) === 'blocked');
  expect((await fleet.fleet.view(second)).message).toBe(`it waits for task ${first}, whose scope overlaps`);
  expect((await fleet.fleet.explain(second)).sentence).toContain(`task ${first}, whose scope overlaps`);
  await go(first);
  await fleet.running(second, 1);
  expect(await stateOf(third)).toBe('blocked');
  // One that is cancelled makes way.
  await fleet.fleet.cancel(second);
  await go(third);
  expect(await fleet.settled(third)).toMatchObject({ state: 'done', runs: [expect.anything()] });
  await Promise.all([other, careless].map((id) => fleet.fleet.cancel(id)));
});

test('one that was terminated is noticed by those that wait', async () => {
  const first = await enqueue(['x/**', 'made.txt']);
  await fleet.running(first, 1);
  const second = await enqueue(['x/y', 'made.txt']);
  await until(async () => (await stateOf(second)) === 'blocked');
  await fleet.client.workflow.getHandle(first).terminate('a slip');
  await until(async () => (await stateOf(second)) !== 'blocked');
  await fleet.fleet.cancel(second);
});

test('what is added to what a blocked task needs is kept, also when its turn comes', async () => {
  const first = await enqueue(['y/**', 'made.txt']);
  await fleet.running(first, 1);
  const second = await enqueue(['y/z', 'made.txt']);
  await until(async () => (await stateOf(second)) === 'blocked');
  const need = await enqueue(['elsewhere/**'], 'allow');
  await fleet.fleet.changeNeeds(second, { add: [need] });
  await go(first);
  await fleet.settled(first);
  await until(async () => (await fleet.fleet.view(second)).message?.includes(need));
  expect((await fleet.fleet.view(second)).runs).toEqual([]);
  await fleet.fleet.cancel(need);
  await until(async () => (await stateOf(second)) === 'parked');
});
