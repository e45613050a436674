import { expect, test } from '@jest/globals';
import { checkPolicy, mergePolicy, repoFile } from '../../src/domain/repo-policy.ts';
import { taskInput, type TaskInput } from '../../src/domain/task.ts';

const task = (more: object) => taskInput.parse({ objective: 'x', repo: '/r', ...more });

test("the task's own values win over .fleet.yaml, and that over the worker's defaults", () => {
  const file = repoFile.parse({ verify: ['npm test'], limits: { total: '1h', idle: '5m' } });
  const policy = mergePolicy(task({ limits: { total: '30m' } }), file, { limits: { total: '9h', verify: '1m' } });
  expect(policy.limits).toMatchObject({ totalMs: 1_800_000, idleMs: 300_000, verifyMs: 60_000 });
  expect(policy.verify).toEqual(['npm test']);
  expect(mergePolicy(task({ verify: ['make'] }), file).verify).toEqual(['make']);
});

test("of a route's limit and what the repository or the worker says, the tighter one holds, but for the task's own", () => {
  const file = repoFile.parse({ limits: { idle: '5m' } });
  const limits = { total: '1h', tokens: 1_000, disk: '1GB' };
  const routed = { total: '3h', idle: '6m', tokens: 500, costUsd: 2, disk: '900MB', verify: '1h' };
  const policy = mergePolicy(task({ limits: { costUsd: 9 } }), file, { limits, routed });
  expect(policy.limits).toMatchObject({
    ...{ totalMs: 3_600_000, idleMs: 300_000, tokens: 500, costUsd: 9, diskBytes: 9e8 },
    // Nobody but the product's own defaults said anything else.
    verifyMs: 3_600_000,
  });
});

test('a task can only narrow the scope, and cannot unprotect', () => {
  const file = repoFile.parse({ scope: { allow: ['src/**'], protect: ['a'] }, protect: ['test/**'] });
  const policy = mergePolicy(task({ scope: { allow: ['**'], protect: ['b'] } }), file);
  expect(policy.allow).toEqual([['src/**'], ['**']]);
  expect(policy.protect).toEqual(['test/**', 'a', 'b']);
});

test('to be told to look is no leave to change: without a scope, only code may be changed, and declared outputs left', () => {
  const allow = (more: object) => mergePolicy(task(more), repoFile.parse({})).allow;
  expect(allow({})).toEqual([]);
  for (const type of ['research', 'review', 'browser', 'message']) {
    expect(allow({ type })).toEqual([[]]);
    expect(allow({ type, artifacts: ['report.md'] })).toEqual([['report.md']]);
    expect(allow({ type, scope: { allow: ['docs/**'] } })).toEqual([['docs/**']]);
  }
  expect(allow({ scope: { allow: [] }, artifacts: ['report.md'] })).toEqual([['report.md']]);
  expect(allow({ type: 'research', repo: undefined })).toEqual([]);
});

test.each<[string, Partial<TaskInput>, string | undefined]>([
  ['tests to pass', { verify: { failToPass: ['a'] } }, 'verify.failToPass needs verify.commands'],
  ['a control', { verify: { control: true } }, 'verify.control needs verify.commands'],
  ['a second worker', { verify: { where: 'other' } }, 'verify.where: other needs verify.commands or verify.heldOut'],
  ['a held-out check', { verify: { heldOut: [{ path: 'a.sh' }], where: 'other' } }, undefined],
])('%s without commands', (_name, task, says) => {
  const wrong = checkPolicy(mergePolicy(taskInput.parse({ objective: 'x', ...task }), repoFile.parse({})));
  expect(wrong?.slice(0, says?.length)).toBe(says);
});
