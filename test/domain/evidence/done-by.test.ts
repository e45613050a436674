import { expect, test } from '@jest/globals';
import { doneByTask, doneWhen, needsPerson, shownBy } from '../../../src/domain/evidence/done-by.ts';
import { taskInput, type TaskInput } from '../../../src/domain/task/schema.ts';

const planned = (fields: Partial<TaskInput>) => doneByTask(taskInput.parse({ objective: 'x', repo: '/r', ...fields }));

test.each([
  [{}, ['git']],
  [{ verify: ['npm test'] }, ['git', 'acceptance']],
  [{ verify: { heldOut: [{ path: 'a' }] } }, ['git', 'held-out']],
  [{ approval: 'both' as const }, ['git', 'person']],
  ...(['message', 'browser', 'research', 'review'] as const).flatMap((type) => [
    [{ type }, ['tools', 'person']],
    [{ type, artifacts: ['report.md'] }, ['tools', 'person']],
    [{ type, artifacts: ['report.md', { path: 'a.json', schema: {} }] }, ['artifacts']],
    [{ type, verify: ['true'], review: { coder: 'codex' } }, ['acceptance', 'review']],
    [{ type, approval: 'before-deliver' as const }, ['person']],
    [{ type, review: { coder: 'codex' }, approval: 'both' as const }, ['review', 'person']],
    [{ type, for: 'jean' }, ['person']],
  ]),
] as [Partial<TaskInput>, string[]][])('%j is done by %j', (fields, by) => expect(planned(fields)).toEqual(by));

test('it is said in words', () => {
  expect(doneWhen(['git', 'acceptance', 'person'])).toBe(
    'done when files were changed within its scope, its verify commands pass and a person says yes',
  );
  expect(doneWhen(['tools', 'person'])).toBe(
    'done when its model is seen to make a tool call that could have done it, or else when a person says yes',
  );
  expect([needsPerson(['tools', 'person']), needsPerson(['review', 'person'])]).toEqual([true, false]);
  expect([shownBy({ doneBy: [] }), shownBy({ doneBy: ['git'] }), shownBy({ doneBy: ['artifacts', 'review'] })]).toEqual(
    ["by a person's yes", 'no acceptance command', 'by checked artifacts and a reviewer'],
  );
});
