import { expect, test } from '@jest/globals';
import { handOff, narrowed } from '../../../src/domain/people/follow-up-limits.ts';
import { taskInput, type TaskInput } from '../../../src/domain/task/schema.ts';

/** The network of a follow-up that asks for `network`, of a task that has `above`. */
function networkOf(above: string[] | undefined, network?: string[]): unknown {
  const task = { objective: 'Next', ...(network ? { network } : {}) } satisfies TaskInput;
  const parent = taskInput.parse({ objective: 'Build', repo: '/repo', ...(above ? { network: above } : {}) });
  const made = narrowed(
    { task },
    {
      parent: { id: 'build', task: parent, from: 'claude', depth: 0, children: 0 },
      ...{ rules: handOff.parse({}), by: 'agent', isCoder: () => true },
    },
  );
  return made.ok ? made.value.input.network : made.message;
}

test('a follow-up reaches no more of the network than its parent', () => {
  const above = ['model', 'registries'];
  expect(networkOf(above)).toEqual(above);
  expect(networkOf(above, ['model'])).toEqual(['model']);
  expect(networkOf(above, ['none'])).toEqual(['none']);
  expect(networkOf(above, ['model', 'example.org'])).toBe(
    'network must be within model, registries: example.org is not, as task build hands it off',
  );
  expect(networkOf(undefined, ['example.org'])).toEqual(['example.org']);
});
