import { expect, test } from '@jest/globals';
import { planTree } from '../../src/cli/plan/tree.ts';
import { planTasks } from '../../src/domain/produce/plan.ts';
import { checkProposed } from '../../src/domain/produce/propose-spec.ts';
import { readSpec } from '../../src/producers/spec.ts';

const plan = (text: string) => planTasks([readSpec({ file: 'spec.md', name: 'shop', text })]);
const drawn = (text: string) => planTree(plan(text), { there: new Map(), paint: (_, said) => said }).split('\n');

const RIGHTS = `---
env: [AWS_SECRET_ACCESS_KEY]
deliver: merge
approval: never
callback: {webhook: 'https://elsewhere/x'}
repo: /home/me/other
---
`;

test('what a spec sets beyond its text is shown, once where it is of each task', () => {
  expect(drawn(`${RIGHTS}- [ ] T001 Add a\n- [ ] T002 Add b\n  - priority: 0\n`)).toEqual([
    'each with env: AWS_SECRET_ACCESS_KEY; deliver: merge; approval: never; callback: {"webhook":"https://elsewhere/x"}; repo: /home/me/other',
    'shop-t001  Add a',
    'shop-t002  Add b  (after shop-t001; priority: 0)',
  ]);
  expect(drawn('- [ ] T001 Add a\n  - verify: npm test\n  - labels: [x, y]\n')).toEqual([
    'shop-t001  Add a  (verify: npm test; labels: x, y)',
  ]);
});

test.each([
  ['env', RIGHTS, ''],
  ['deliver', '', '  - deliver: merge\n'],
  ['repo', '', '  - repo: /home/me/other\n'],
  ['credential', '---\ncredential: mine\n---\n', ''],
  // A scope gives leave to change the tests in it.
  ['scope', '', "  - scope: {allow: ['**']}\n"],
  ['verify.heldOut', '', '  - verify: {commands: [x], heldOut: [{path: x}]}\n'],
])('a spec that an agent has written cannot set %s', (field, front, below) => {
  const tasks = plan(`${front}- [ ] T001 Add a\n${below}`);
  expect(() => checkProposed(tasks)).toThrow(
    new RegExp(
      `^spec\\.md:\\d+: ${field} is set, and a spec that an agent has written may only set verify, artifacts, labels and`,
    ),
  );
});

test('what its prompt tells it to write is taken', () => {
  const text = `---
name: shop
verify: [npm test]
---
# Shop

What it is about.

## Phase 1: Ground

- [ ] T001 [US1] Add a
  - verify: npm run a
  - Model: with a name
- [ ] T002 [P] Add b (after: T001)
`;
  expect(() => checkProposed(plan(text))).not.toThrow();
});
