import { expect, test } from '@jest/globals';
import type { RunView, TaskView } from '../../../src/domain/view/task-view.ts';
import { whatIsTold } from '../../../src/domain/prompt/run-context.ts';

test('only a conversation in which tasks were proposed in vain hears that they were dropped', () => {
  const rejected = { runId: '1-a', reason: 'receipts-rejected', message: 'no', dropped: true } as RunView;
  const of = (first: RunView, sameSession: boolean) => {
    const run = { runId: '2-b', sameSession, resumedFrom: '1-a' } as RunView;
    return whatIsTold({ runs: [first, run], decision: null } as unknown as TaskView, run, []);
  };
  expect(of(rejected, true)).toMatchObject({ dropped: true });
  expect(of(rejected, false)).not.toHaveProperty('dropped');
  const { dropped: _, ...counted } = rejected;
  expect(of(counted, true)).not.toHaveProperty('dropped');
});
