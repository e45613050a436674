import { expect, jest, test } from '@jest/globals';
import { turns } from '../../../src/activities/launch/wait-loop.ts';

function counted<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject, heard: jest.spyOn(promise, 'then') };
}

test('a long wait leaves nothing behind with what it waits for', async () => {
  const [ended, cancelled] = [counted<string>(), counted<never>()];
  const next = turns({ ended: ended.promise, cancelled: cancelled.promise }, 1);
  for (let turn = 0; turn < 50; turn += 1) expect(await next()).toBe('tick');
  expect([ended.heard.mock.calls.length, cancelled.heard.mock.calls.length]).toEqual([1, 1]);
  const last = next();
  ended.resolve('over');
  expect(await last).toBe('over');
  expect(await next()).toBe('over');
});

test('a cancellation and a failure cut the turn short', async () => {
  const never = new Promise<never>(() => {});
  const cancelled = counted<never>();
  const next = turns({ ended: never, cancelled: cancelled.promise }, 60_000)();
  cancelled.reject(new Error('cancelled'));
  expect(await next).toBe('cancelled');
  const broken = turns({ ended: Promise.reject(new Error('broken')), cancelled: never }, 60_000);
  await expect(broken()).rejects.toThrow('broken');
});
