import { expect, test } from '@jest/globals';
import type { Worker } from '@temporalio/worker';
import { SdkWorkers } from '../../src/workers/temporal.ts';

/** As the core does, refuses a second one for a queue. */
function site() {
  const polled: string[] = [];
  let away = false;
  const claim = async (taskQueue: string): Promise<Worker> => {
    await new Promise((resolve) => setImmediate(resolve));
    if (away) throw new Error('away');
    if (polled.includes(taskQueue)) throw new Error(`two workers on ${taskQueue}`);
    polled.push(taskQueue);
    let end = () => {};
    const run = new Promise<void>((resolve) => (end = resolve));
    const fake = { options: { taskQueue }, run: () => run, getState: () => 'RUNNING', shutdown: () => end() };
    return fake as unknown as Worker;
  };
  return { polled, claim, away: (is: boolean) => (away = is) };
}

test('two calls at once make one SDK worker for each queue, and one that failed can be made again', async () => {
  const { polled, claim, away } = site();
  const workers = new SdkWorkers({
    claiming: [await claim('plain')],
    rest: [],
    claim,
    thread: { end: async () => {} },
  });
  let undone = false;
  const done = workers.run(async () => void (undone = true), new Promise<never>(() => {}));
  await Promise.all([workers.claimFrom(['plain', 'one']), workers.claimFrom(['plain', 'one', 'two'])]);
  expect(polled).toEqual(['plain', 'one', 'two']);
  away(true);
  await expect(workers.claimFrom(['plain', 'three'])).rejects.toThrow('away');
  away(false);
  await workers.claimFrom(['plain', 'three']);
  expect(polled).toEqual(['plain', 'one', 'two', 'three']);
  workers.shutdown();
  await done;
  expect(undone).toBe(true);
});

test('one that is made while all end is ended before what they need is taken away', async () => {
  const { claim, polled } = site();
  const workers = new SdkWorkers({
    claiming: [await claim('plain')],
    rest: [],
    claim,
    thread: { end: async () => {} },
  });
  let settled = false;
  const seen: boolean[] = [];
  const done = workers.run(async () => void seen.push(settled), new Promise<never>(() => {}));
  const claimed = workers.claimFrom(['late']).finally(() => (settled = true));
  await Promise.resolve();
  workers.shutdown();
  await Promise.all([done, claimed]);
  expect([seen, polled]).toEqual([[true], ['plain', 'late']]);
});
