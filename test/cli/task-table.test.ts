import { expect, test } from '@jest/globals';
import { taskTable } from '../../src/cli/output/report-tasks.ts';
import { rowOf } from '../../src/domain/list/task-row.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');

/** The line of a task whose worker was heard of so many seconds ago. */
function line(heardS: number, state: 'running' | 'parked' = 'running'): string {
  const startedAt = new Date(NOW - 600_000).toISOString();
  const told = { worker: 'desk' };
  const row = rowOf({ id: 'a', state, told, startedAt, taskQueue: 'fleet', terminated: false, closedAt: null });
  const at = new Date(NOW - heardS * 1_000).toISOString();
  const live = { runId: 'r', state: 'running' as const, at, lastEventAt: at, doing: 'it reads' };
  return taskTable([{ ...row, live: state === 'running' ? live : null }], { paint: (_, text) => text, nowMs: NOW });
}

test('a run whose worker gives no sign is told so, not what it did last', () => {
  expect(line(35)).toContain('desk gave its last sign 35s ago, see fleet explain');
  expect(line(35)).not.toContain('it reads');
  expect(line(5)).toContain('it reads');
  expect(line(5)).not.toContain('last sign');
  expect(line(35, 'parked')).not.toContain('last sign');
});
