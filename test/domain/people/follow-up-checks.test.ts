import { expect, test } from '@jest/globals';
import { handOff, narrowed } from '../../../src/domain/people/follow-up-limits.ts';
import { followUpsKept } from '../../../src/domain/people/waiting.ts';
import type { TaskInput } from '../../../src/domain/task/schema.ts';
import { parseTask } from '../../../src/domain/task/parse.ts';

function child(fields: object, of: Partial<TaskInput>): Record<string, unknown> {
  const parsed = parseTask({ objective: 'Do it', ...of });
  if (!parsed.ok) throw new Error(parsed.message);
  const made = narrowed(
    { task: { objective: 'Next', ...fields } },
    {
      parent: { id: 'build', task: parsed.task, from: 'claude', depth: 0, children: 0 },
      ...{ rules: handOff.parse({}), by: 'agent', isCoder: () => true },
    },
  );
  if (!made.ok) throw new Error(made.message);
  return made.value.input;
}

test('a follow-up is checked by all that its parent is checked by, and by what it asks for itself', () => {
  const verify = {
    ...{ commands: ['npm test'], failToPass: ['adds'], control: true },
    ...{ heldOut: [{ path: 'own.sh' }], where: 'other' as const },
  };
  const above = { repo: 'https://example.com/shop.git', verify, deliver: 'merge' as const };
  const held = { control: true, heldOut: [{ path: 'own.sh' }], where: 'other' };
  expect(child({ verify: ['true'], deliver: 'merge' }, above)).toMatchObject({
    deliver: 'merge',
    verify: { commands: ['npm test', 'true'], ...held },
  });
  const silent = child({}, above);
  expect(silent).toMatchObject({ verify: { commands: ['npm test'], ...held } });
  // A test that fails on the base is of the parent's own change.
  expect(silent['verify']).not.toHaveProperty('failToPass');
  const weaker = { commands: ['true'], control: false, where: 'here', retries: 5 };
  expect(child({ verify: weaker }, { ...above, verify: { ...verify, retries: 1 } })).toMatchObject({
    verify: { commands: ['npm test', 'true'], ...held, retries: 1 },
  });
  expect(() => child({ verify: { challenge: 'off' } }, above)).toThrow(/^verify.challenge must be left out/);
  // What may change nothing has nothing to be checked.
  const looks = child({ type: 'research' }, above);
  expect(looks).not.toHaveProperty('verify');
});

test('of what was refused the newest are kept, and all that was created', () => {
  const made = { id: 'build.1-1', title: 'Next' };
  const refused = Array.from({ length: 70 }, (_, at) => ({ id: null, title: String(at), refused: 'no' }));
  const kept = followUpsKept([made, ...refused]);
  expect(kept).toHaveLength(51);
  expect(kept[0]).toEqual(made);
  expect(kept.slice(1)).toEqual(refused.slice(20));
});
