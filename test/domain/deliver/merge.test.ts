import { describe, expect, test } from '@jest/globals';
import {
  BATCH_MAX,
  halves,
  mayPass,
  mergedTask,
  mergeOrder,
  nextBatch,
  pauseAfter,
  placesToTell,
  refusalOf,
  shownOf,
} from '../../../src/domain/deliver/merge.ts';
import type { Failure } from '../../../src/domain/agent/failure.ts';
import { jointPolicy } from '../../../src/domain/deliver/merge-policy.ts';
import { mergePolicy, repoFile } from '../../../src/domain/repository/repo-policy.ts';
import { taskInput, type TaskInput } from '../../../src/domain/task/schema.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const task = (fields: Partial<TaskInput> = {}) => taskInput.parse({ objective: 'x', repo: '/r', ...fields });
const entry = (id: string, minutes: number, fields: Partial<TaskInput> = {}) => ({
  id,
  at: ago(minutes),
  task: task(fields),
});
const ids = (entries: readonly { id: string }[]): string => entries.map(({ id }) => id).join(' ');

describe('who is merged first', () => {
  test('of the same priority, who came first', () => {
    expect(ids(mergeOrder([entry('b', 1), entry('a', 2), entry('c', 0)], NOW))).toBe('a b c');
  });

  test('an urgent one goes first, until another has waited for long', () => {
    const urgent = entry('urgent', 0, { priority: 0 });
    expect(ids(mergeOrder([entry('old', 60), urgent], NOW))).toBe('urgent old');
    // 50 above it: two and a half hours at an ageing of one.
    expect(ids(mergeOrder([entry('old', 151), urgent], NOW))).toBe('old urgent');
    expect(ids(mergeOrder([entry('old', 16, { ageing: '6m' }), urgent], NOW))).toBe('old urgent');
  });

  test('a batch has no gap, and one rule for the tests', () => {
    const many = Array.from({ length: 9 }, (_, i) => entry(`m${i}`, 9 - i));
    expect(nextBatch(many)).toHaveLength(BATCH_MAX);
    const scoped = entry('scoped', 1, { scope: { allow: ['src/**'] } });
    expect(ids(nextBatch([entry('a', 3), entry('b', 2), scoped, entry('c', 0)]))).toBe('a b');
    expect(ids(nextBatch([scoped, entry('c', 0)]))).toBe('scoped');
    expect(nextBatch([])).toEqual([]);
  });
});

test('a queue keeps only what it goes by of each task, and its memo only the first', () => {
  const kept = mergedTask(
    task({ objective: 'x'.repeat(9_000), title: 'T', verify: { commands: ['true'], heldOut: [], where: 'other' } }),
  );
  expect(Object.keys(kept).toSorted()).toEqual(
    ['ageing', 'artifacts', 'limits', 'priority', 'repo', 'scope', 'type', 'verify'].toSorted(),
  );
  expect(kept.verify).toMatchObject({ commands: ['true'], where: 'here' });
  // By it a follow-up adds to the checks of its repository.
  expect(mergedTask(task({ parent: 'build' }))).toMatchObject({ parent: 'build' });
  const many = Array.from({ length: 2_000 }, (_, i) => ({
    ...{ id: `m${i}`, at: ago(0), task: kept, hostQueue: 'host/one-00000000', commit: 'c'.repeat(40) },
  }));
  // What one history hands to the next may have two million bytes.
  expect(JSON.stringify(many).length).toBeLessThan(1_500_000);
  const shown = shownOf({ repo: '/r', into: 'main' }, many);
  expect([shown.count, shown.waiting.length, shown.waiting[0]]).toEqual([2_000, 20, { id: 'm0', at: ago(0) }]);
});

test('of its place hears who comes, and who is among the first', () => {
  const at = (place?: number) => (place === undefined ? {} : { place });
  const places = (ordered: { place?: number }[]) => placesToTell(ordered).map(({ place }) => place);
  expect(places(Array.from({ length: 30 }, () => at()))).toHaveLength(30);
  const moved = Array.from({ length: 30 }, (_, i) => at(i + 2));
  expect(places(moved)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(places([...moved.slice(0, 20), at()])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 21]);
  expect(places([at(1), at(2)])).toEqual([]);
});

test('no try goes on for ever, and who waits for a worker looks ever less often', () => {
  const tries = { nobody: 0, lost: 0, failed: 0 };
  expect(pauseAfter('lost', { ...tries, lost: 9 })).toBeGreaterThan(0);
  expect(pauseAfter('lost', { ...tries, lost: 10 })).toBeNull();
  expect(pauseAfter('failed', { ...tries, failed: 6 })).toBeNull();
  expect([1, 2, 9, 999].map((nobody) => pauseAfter('nobody', { ...tries, nobody }))).toEqual([
    20_000, 40_000, 300_000, 300_000,
  ]);
});

test('halving finds every culprit, each alone', () => {
  const bad = new Set([2, 5, 6]);
  const green: number[] = [];
  const culprits: number[] = [];
  let trials = 0;
  const bisect = (members: number[]): void => {
    trials += 1;
    if (!members.some((one) => bad.has(one))) return void green.push(...members);
    if (members.length === 1) return void culprits.push(...members);
    halves(members).forEach(bisect);
  };
  bisect([1, 2, 3, 4, 5, 6, 7]);
  expect({ green, culprits }).toEqual({ green: [1, 3, 4, 7], culprits: [2, 5, 6] });
  expect(trials).toBeLessThanOrEqual(13);
  expect(halves([1])).toEqual([[1]]);
});

test('what holds for all: every command, the widest limits, and the tests of others as on the target unless all named a scope', () => {
  const file = repoFile.parse({ setup: ['npm ci'], verify: ['npm test'], protect: ['keep/**'] });
  const of = (fields: Partial<TaskInput>) => mergePolicy(task(fields), file);
  const one = of({ verify: ['test -e a'], limits: { verify: '1m' } });
  const two = of({ limits: { verify: '2m', processes: 9_000 }, scope: { protect: ['own'] } });
  expect(jointPolicy([one, two])).toMatchObject({
    setup: ['npm ci'],
    verify: ['test -e a', 'npm test'],
    protect: ['keep/**', 'own'],
    allow: [],
    limits: { verifyMs: 180_000, processes: 9_000 },
  });
  const scoped = of({ scope: { allow: ['src/**'] } });
  expect(jointPolicy([one, scoped]).allow).toEqual([]);
  expect(jointPolicy([scoped, scoped]).allow).toEqual([['src/**']]);
});

test.each<[failure: Omit<Failure, 'message'>, another: boolean, told: string]>([
  [{ reason: 'repo-unavailable' }, true, 'repo-unavailable'],
  [{ reason: 'repo-unavailable', lasting: true }, false, 'repo-unavailable'],
  [{ reason: 'machine-fault' }, true, 'machine-fault'],
  [{ reason: 'base-missing' }, false, 'repo-unavailable'],
])('a batch that met %j is tried again: %s; its tasks hear of %s', (met, another, told) => {
  // No word of it decides.
  const failure = { ...met, message: 'main is checked out in /r' };
  expect(mayPass(failure)).toBe(another);
  expect(refusalOf(failure)).toEqual({ reason: told, message: failure.message });
});
