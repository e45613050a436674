import { expect, test } from '@jest/globals';
import { approvalOf } from '../../../src/domain/people/follow-up-approval.ts';
import { taskInput, type TaskInput } from '../../../src/domain/task/schema.ts';

const of = (fields: Partial<TaskInput>, ruled = true, by: 'agent' | 'person' = 'agent') =>
  approvalOf({ approval: 'never' }, taskInput.parse({ objective: 'x', repo: '/r', ...fields }), { ruled, by });

test('what an agent checks its own follow-up by is no evidence, where no person has seen it', () => {
  const own = { type: 'message' as const, verify: ['true'] };
  expect(of(own)).toBe('before-deliver');
  expect(of({ type: 'research', artifacts: [{ path: 'a.md', matches: 'x' }] })).toBe('before-deliver');
  expect(of({ ...own, approval: 'before-run' })).toBe('both');
  expect(of(own, false)).toBe('before-run');
  expect(of(own, true, 'person')).toBe('never');
  expect(of({ type: 'message' })).toBe('never');
  expect(of({ verify: ['true'] })).toBe('never');
});
