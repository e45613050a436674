import { expect, test } from '@jest/globals';
import { taskInput } from '../../../src/domain/task/schema.ts';
import { newTask } from '../../../src/workflows/state/initial-view.ts';

const begun = (repo?: string) =>
  newTask(
    't',
    taskInput.parse({ objective: 'x', type: 'research', ...(repo ? { repo } : {}) }),
    '2026-11-23T00:00:00Z',
  );

test('a new task says what it will be done by only where no repository can ask for more', () => {
  expect(begun().doneBy).toEqual(['tools', 'person']);
  expect(begun('/r')).not.toHaveProperty('doneBy');
});
