import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { TestFleet } from '../helpers/fleet.ts';
import { doing, scripted } from '../helpers/scripted.ts';
import { silentServer } from '../helpers/silent-server.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('repo');
  await fleet.worker('one', { worker: { slots: 2 }, coders: { scripted } });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (input: Partial<TaskInput> = {}) =>
  fleet.fleet.enqueue({ objective: doing('echo x > x.txt'), repo, coder: 'scripted', ...input });

/** As many as a worker carries on at once, and some more. */
const MANY = 45;

test('a webhook that says nothing holds up neither other tasks nor a cancelled one', async () => {
  await using silent = await silentServer();
  const callback = { webhook: `http://127.0.0.1:${silent.port}/` };
  const ids: string[] = [];
  for (let i = 0; i < MANY; i += 1) ids.push(await enqueue({ approval: 'before-run', callback }));
  for (const id of ids)
    await until(async () => (await fleet.fleet.view(id)).state === 'awaiting-approval', { timeoutMs: 120_000 });
  const closed = (id: string) =>
    fleet.client.workflow
      .getHandle(id)
      .result()
      .catch(() => Date.now());
  const began = Date.now();
  for (const id of ids) await fleet.fleet.cancel(id);
  const ended = Promise.all(ids.map(closed));
  const beside = await enqueue();
  const both = await Promise.all([ended, fleet.settled(beside).then(() => Date.now())]);
  expect(both[1] - began).toBeLessThan(75_000);
  expect(Math.max(...both[0].map(Number)) - began).toBeLessThan(75_000);
}, 400_000);

test('of a parked one that is cancelled, what is still to be told is given up', async () => {
  await using silent = await silentServer();
  const callback = { webhook: `http://127.0.0.1:${silent.port}/` };
  const id = await enqueue({ verify: ['false'], retry: { maxAttempts: 1 }, callback });
  expect(await fleet.settled(id)).toMatchObject({ state: 'parked' });
  const began = performance.now();
  await fleet.fleet.cancel(id);
  await fleet.client.workflow
    .getHandle(id)
    .result()
    .catch(() => undefined);
  expect(performance.now() - began).toBeLessThan(30_000);
}, 200_000);
