import { expect, test } from '@jest/globals';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import '../../simulation/async-local-storage.ts';
import type { Command } from '../../simulation/execution.ts';

// Jest loads the workflow library while it links what is imported: by now its global scope is ready.
const { Execution, fromPayload, startArguments, toPayload } = await import('../../simulation/execution.ts');

const find = <K extends keyof Command>(commands: Command[], kind: K): NonNullable<Command[K]> => {
  const found = commands.find((command) => command[kind])?.[kind];
  if (!found) throw new Error(`no ${kind}`);
  return found;
};

test('a dependency that says nothing of its end, as it was terminated, is looked at within an hour', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const task = new Execution('second', () => now);
  const input = { objective: 'x', repo: '/repo', dependsOn: ['first'] };
  const begun = await task.activate([
    {
      initializeWorkflow: {
        workflowType: 'agentTask',
        workflowId: 'second',
        arguments: startArguments(input),
        headers: {},
      },
    },
  ]);
  const asked = find(begun, 'signalExternalWorkflowExecution');
  let waiting = await task.activate([{ resolveSignalExternalWorkflow: { seq: asked.seq! } }]);
  expect(task.view).toMatchObject({ state: 'blocked' });
  for (const state of ['open', 'closed']) {
    const timer = find(waiting, 'startTimer');
    expect(optionalTsToMs(timer.startToFireTimeout)).toBe(3_600_000);
    now += 3_600_000;
    const looking = await task.activate([{ fireTimer: { seq: timer.seq! } }]);
    const look = find(looking, 'scheduleLocalActivity');
    expect(look).toMatchObject({ activityType: 'lookUpEnded' });
    expect(fromPayload(look.arguments![0])).toEqual(['first']);
    const gone = { id: 'first', state: 'cancelled', reason: null, message: 'terminated', repo: null, commit: null };
    const result = toPayload(state === 'open' ? [] : [gone]);
    waiting = await task.activate([{ resolveActivity: { seq: look.seq!, result: { completed: { result } } } }]);
  }
  expect(task.view).toMatchObject({ state: 'parked', reason: 'dependency-failed' });
});
