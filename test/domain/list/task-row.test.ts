import { describe, expect, test } from '@jest/globals';
import type { TaskView } from '../../../src/domain/view/task-view.ts';
import type { TaskState } from '../../../src/domain/task/state.ts';
import { rowOf, saidAtStart, saidOf, saysMore, type Listed, type SaidOf } from '../../../src/domain/list/task-row.ts';

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T01:00:00.000Z';
const made = { title: 'X', maxAttempts: 3, claimQueue: 'fleet' };
const start = saidAtStart(made);

const view = (over: Partial<TaskView> & { state: TaskState }): TaskView =>
  ({
    ...{ id: 'x', title: 'X', reason: null, message: null, since: AT, createdAt: AT, retryAt: null, runs: [] },
    ...{ attempts: { used: 0, max: 3 }, claimQueue: 'fleet', dependsOn: [] },
    ...over,
  }) as unknown as TaskView;
const listed = (over: Partial<Listed>): Listed => ({
  ...{ id: 'x', state: 'queued', terminated: false, taskQueue: 'fleet', startedAt: AT, closedAt: null, told: {}, made },
  ...over,
});

describe('what the server is told beside attributes', () => {
  test.each(['queued', 'setting-up', 'running', 'verifying', 'delivering'] as const)('%s: nothing', (state) => {
    expect(saysMore(saidOf(view({ state, since: LATER }), start), start)).toBe(false);
  });

  test('nor that a task is done, whose attempts stand with its result', () => {
    const done = view({ state: 'done', since: LATER, attempts: { used: 1, max: 3 } });
    expect(saysMore(saidOf(done, start), start)).toBe(false);
  });

  test('what is said of a state once, and not again when the state is over', () => {
    const parked = view({ state: 'parked', reason: 'stalled', message: 'it stood still', since: LATER });
    const said = saidOf(parked, start);
    expect(said).toMatchObject({ message: 'it stood still', waits: { kind: 'parked' } });
    expect(saysMore(said, start)).toBe(true);
    expect(saysMore(saidOf(parked, said), said)).toBe(false);
    expect(saysMore(saidOf(view({ state: 'queued', since: '2026-01-01T02:00:00.000Z' }), said), said)).toBe(false);
    // The same state has nothing to say any more.
    expect(saysMore(saidOf(view({ state: 'parked', since: LATER }), said), said)).toBe(true);
  });

  test('what stays', () => {
    const used = saidOf(view({ state: 'queued', attempts: { used: 1, max: 3 } }), start);
    expect(saysMore(used, start)).toBe(true);
    expect(saysMore(saidOf(view({ state: 'running', attempts: { used: 1, max: 3 } }), used), used)).toBe(false);
    expect(saysMore(saidOf(view({ state: 'queued', claimQueue: 'fleet/codex' }), start), start)).toBe(true);
  });

  test('not which other tasks it waits for, but that its scope is taken', () => {
    const other = { id: 'y', state: null, reason: null, message: null, repo: null, commit: null };
    const blocked = view({ state: 'blocked', message: 'it waits for task y', dependsOn: [other] });
    expect(saysMore(saidOf(blocked, start), start)).toBe(false);
    const behind = view({ state: 'blocked', message: 'it waits for task z, whose scope overlaps' });
    expect(saidOf(behind, start).message).toBe('it waits for task z, whose scope overlaps');
  });

  test('a long message is cut', () => {
    expect(saidOf(view({ state: 'failed', message: 'x'.repeat(9_000) }), start).message).toHaveLength(1_000);
  });
});

describe('a row', () => {
  test('of a task that no worker has seen', () => {
    expect(rowOf(listed({ told: { queue: 'fleet', priority: 10, dependsOn: ['y'] }, state: 'blocked' }))).toMatchObject(
      {
        ...{ title: 'X', state: 'blocked', since: AT, priority: 10, message: 'it waits for y', claimQueue: 'fleet' },
        ...{ attempts: { used: 0, max: 3 }, worker: null, waits: null, endedAt: null },
      },
    );
  });

  test('of one that was started by hand has its id for a title', () => {
    const { made: _, ...hand } = listed({ taskQueue: 'q' });
    expect(rowOf(hand)).toMatchObject({ title: 'x', state: 'queued', queue: 'q', claimQueue: 'q', priority: 50 });
  });

  test('says what was said of its state, and not of an earlier one', () => {
    const said: SaidOf = {
      ...{ lasting: { used: 2, claimQueue: 'fleet/codex' }, since: LATER, message: 'why', retryAt: LATER },
      waits: { kind: 'parked', text: 'why', since: LATER, commands: ['fleet task x retry'] },
    };
    const parked = rowOf(listed({ state: 'parked', told: { since: LATER }, said }));
    expect(parked).toMatchObject({ message: 'why', retryAt: LATER, attempts: { used: 2 }, claimQueue: 'fleet/codex' });
    expect(parked.waits).toMatchObject({ id: 'x', title: 'X', commands: ['fleet task x retry'] });
    expect(rowOf(listed({ state: 'running', told: { since: AT, worker: 'ada' }, said }))).toMatchObject({
      ...{ message: null, retryAt: null, waits: null, attempts: { used: 2 }, worker: 'ada', lastWorker: 'ada' },
    });
  });

  test('ended when it entered its last state, although its workflow closes later', () => {
    const told = { state: 'done', since: AT } as const;
    expect(rowOf(listed({ state: 'done', closedAt: LATER, told })).endedAt).toBe(AT);
    expect(rowOf(listed({ state: 'failed', closedAt: LATER, told: { ...told, state: 'running' } })).endedAt).toBe(
      LATER,
    );
  });

  test('of one that was ended by force says so', () => {
    const row = rowOf(listed({ state: 'cancelled', terminated: true, closedAt: LATER, told: { worker: 'ada' } }));
    expect(row).toMatchObject({ message: 'terminated', endedAt: LATER, worker: null, lastWorker: 'ada' });
  });
});
