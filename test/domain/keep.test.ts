import { expect, test } from '@jest/globals';
import { keepClassOf } from '../../src/domain/keep.ts';
import type { TaskState } from '../../src/domain/run.ts';

const server = 'here:7233/default';
const origin = { server, worker: 'ada' };
const classOf = (state: TaskState, worker: string | null = 'ada') => keepClassOf({ state, worker }, { origin, server });

test('by what became of the task; nothing of one that is open and not parked', () => {
  expect(classOf('done')).toBe('accepted');
  expect([classOf('failed'), classOf('cancelled')]).toEqual(['rejected', 'rejected']);
  expect(classOf('parked')).toBe('parked');
  for (const state of ['queued', 'setting-up', 'running', 'verifying', 'delivering'] as const)
    expect(classOf(state)).toBeUndefined();
});

test('a run that another worker replaced, or of a task that the server has forgotten, is orphaned', () => {
  expect([classOf('done', 'bob'), classOf('failed', 'bob')]).toEqual(['orphaned', 'orphaned']);
  expect(classOf('parked', 'bob')).toBe('parked');
  expect(keepClassOf(null, { origin, server })).toBe('orphaned');
});

test('what cannot be told is left alone', () => {
  expect(keepClassOf(null, { origin: undefined, server })).toBeUndefined();
  expect(keepClassOf(null, { origin: { ...origin, server: 'there' }, server })).toBeUndefined();
  expect(
    keepClassOf({ state: 'done', worker: 'ada' }, { origin: { ...origin, server: 'there' }, server }),
  ).toBeUndefined();
  expect(keepClassOf({ state: 'done', worker: 'ada' }, { origin: undefined, server })).toBe('accepted');
});
