import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

/** One slot: what waits is claimed one after the other, and the order can be seen. */
let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
  await fleet.worker('narrow', {
    worker: { slots: 1 },
    coders: { wait: agent('wait-for-file.sh'), quick: { command: ['true'], protocol: 'none' } },
  });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (input: Partial<TaskInput>) =>
  fleet.fleet.enqueue({
    objective: 'x',
    type: 'research',
    verify: ['true'],
    coder: 'quick',
    deliver: 'none',
    ...input,
  });
/** Takes the only slot; what it gives frees it. */
async function occupy(): Promise<() => Promise<void>> {
  const id = await enqueue({ coder: 'wait' });
  const { work } = await fleet.running(id, 1);
  return () => writeFile(`${work}/go`, '');
}
/** In the order of their claims. */
async function claims(ids: readonly string[]): Promise<string[]> {
  const started = await Promise.all(
    ids.map(async (id) => ({ id, at: (await fleet.settled(id)).runs[0]?.startedAt ?? '' })),
  );
  return started.sort((one, other) => one.at.localeCompare(other.at)).map(({ id }) => id);
}
/** Until all of them wait for a claim at the server, which looks every few seconds; and so many with its most urgent key. */
const waits = (ids: readonly string[], { urgent = 0 } = {}) =>
  until(
    async () => {
      const { claimQueue } = await fleet.fleet.view(ids[0]!);
      const { stats, statsByPriorityKey } = await fleet.client.workflowService.describeTaskQueue({
        namespace: 'default',
        taskQueue: { name: claimQueue },
        taskQueueType: 2,
        reportStats: true,
      });
      const [all, first] = [stats, statsByPriorityKey?.['1']].map((one) => Number(one?.approximateBacklogCount ?? 0));
      return all! >= ids.length && first! >= urgent;
    },
    { timeoutMs: 60_000 },
  );

test('urgent ones are claimed first, and one that is made more urgent moves', async () => {
  const free = await occupy();
  const ids: string[] = [];
  for (const priority of [90, 50, 20, 0, 95]) ids.push(await enqueue({ priority }));
  await waits(ids);
  await fleet.fleet.setPriority(ids[4]!, 0);
  await until(async () => (await fleet.fleet.view(ids[4]!)).priority === 0);
  await waits(ids, { urgent: 2 });
  await free();
  const order = await claims(ids);
  expect(order).toEqual([ids[3], ids[4], ids[2], ids[1], ids[0]]);
  await expect(fleet.fleet.setPriority(ids[0]!, 5)).rejects.toThrow(/is (parked|done) already|closed/);
});

test('waiting makes urgent: one that has waited long goes before a newer one of a higher class', async () => {
  const free = await occupy();
  const old = await enqueue({ priority: 45, ageing: '2s' });
  // After two steps it is in the first class.
  await until(async () => {
    const { raw } = await fleet.client.workflow.getHandle(old).describe();
    return raw.pendingActivities?.some(({ priority }) => priority?.priorityKey === 1);
  });
  const fresh = [await enqueue({ priority: 25 }), await enqueue({ priority: 30 })];
  await waits([old, ...fresh]);
  await free();
  expect((await claims([...fresh, old]))[0]).toBe(old);
});

test('producers take turns within one priority', async () => {
  const free = await occupy();
  const many: string[] = [];
  for (let n = 0; n < 6; n += 1) many.push(await enqueue({ producer: 'nightly' }));
  const few = [await enqueue({ producer: 'jo' }), await enqueue({ producer: 'jo' })];
  await waits([...many, ...few]);
  await free();
  const order = await claims([...many, ...few]);
  // All of the six were there before: by time alone these two would be the last. A claim that is handed back loses its turn.
  expect(order.slice(-2).filter((id) => few.includes(id))).toEqual([]);
});
