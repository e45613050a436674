import { expect, test } from '@jest/globals';
import { isOpen, keepClassOf } from '../../../src/domain/worker/retention.ts';
import { OPEN_STATES, type TaskState } from '../../../src/domain/task/state.ts';

const server = 'here:7233/default';
const origin = { server, worker: 'ada' };
const classOf = (state: TaskState, worker: string | null = 'ada') => keepClassOf({ state, worker }, { origin, server });

test('by what became of the task; nothing of one that is open', () => {
  expect(classOf('done')).toBe('accepted');
  expect([classOf('failed'), classOf('cancelled')]).toEqual(['rejected', 'rejected']);
  for (const state of OPEN_STATES) {
    expect([state, classOf(state), classOf(state, 'bob')]).toEqual([state, undefined, undefined]);
    expect(isOpen({ state, worker: null })).toBe(true);
  }
  expect([isOpen(null), isOpen({ state: 'failed', worker: null })]).toEqual([false, false]);
});

test('a run that another worker replaced, or of a task that the server has forgotten, is orphaned', () => {
  expect([classOf('done', 'bob'), classOf('failed', 'bob')]).toEqual(['orphaned', 'orphaned']);
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
