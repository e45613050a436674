import { expect, test } from '@jest/globals';
import { claimQueue, claimQueues, isTaskId, priorityKey, taskIdOf } from '../../src/domain/names.ts';

test.each(['../x', 'a/b', '.git', 'a..b', '-a', 'a-', 'A', 'x.lock', 'a'.repeat(65), '', 'a\0', 'a b'])(
  'refuses the id %j',
  (id) => {
    expect(isTaskId(id)).toBe(false);
  },
);

test.each(['Add a /health endpoint', 'ÜBER straße', '💥', '---', 'x'.repeat(200), 'a.lock'])(
  'makes a valid id of %j',
  (title) => {
    const id = taskIdOf(title, '1a2b3c');
    expect(isTaskId(id)).toBe(true);
    expect(id.endsWith('-1a2b3c')).toBe(true);
  },
);

test('a task waits in the queue of what it is pinned to, and a worker claims from all that it can serve', () => {
  expect(claimQueue({ queue: 'fleet' })).toBe('fleet');
  expect(claimQueue({ queue: 'fleet', machine: 'm1', coder: 'codex' })).toBe('fleet@m1/codex');
  expect(claimQueues({ queues: ['fleet'], machine: 'm1', coders: ['claude'] })).toEqual([
    'fleet',
    'fleet/claude',
    'fleet@m1',
    'fleet@m1/claude',
  ]);
});

test('priorities 0 to 100 map to the five keys of Temporal', () => {
  expect([0, 19, 20, 50, 79, 80, 100].map(priorityKey)).toEqual([1, 1, 2, 3, 4, 5, 5]);
});
