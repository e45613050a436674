import { expect, test } from '@jest/globals';
import { buildPrompt } from '../../src/domain/prompt.ts';

const ORDER = {
  task: { objective: 'Add x', type: 'code', artifacts: [] },
  policy: { allow: [], protect: [], verify: [] },
  ...{ feedback: ['no test'], resumed: null, tree: '/w/tree', branch: 'fleet/t', plan: '/p', knowledge: '/k' },
} as unknown as Parameters<typeof buildPrompt>[0];
const prompt = (order: Partial<typeof ORDER> = {}) => buildPrompt({ ...ORDER, ...order });

test('says that a retry from the base has nothing of the runs before', () => {
  expect(prompt()).toContain('They started from the same commit, and their changes are gone.');
  expect(prompt()).not.toContain('Where you start');
});

test('says that a retry from saved work has it, why, and what was cut off', () => {
  const resumed = { why: 'no output for 10m', inFlight: 'Bash make deploy', session: false };
  const text = prompt({ resumed });
  expect(text).not.toContain('their changes are gone');
  expect(text).toContain('- no test');
  expect(text).toContain('was ended (no output for 10m)');
  expect(text).toContain('outcome is unknown. Check before you do it again: Bash make deploy');
  expect(text).not.toContain('This conversation');
  expect(prompt({ resumed: { ...resumed, inFlight: null, session: true } })).toMatch(
    /This conversation is that run's.*\/w\/tree/,
  );
});
