import { expect, test } from '@jest/globals';
import type { AgentEvent } from '../../../src/domain/agent/event.ts';
import { impossibleTests } from '../../../src/receipts/claims/claimed-tests.ts';
import { answer, call, evidenceOf } from '../evidence.ts';

const SEEN = { passed: 12, failed: 0, skipped: 1 };
const EDIT: AgentEvent[] = [call('1', 'Edit'), answer('1')];
const ran = (command: string, output = ''): AgentEvent[] => [
  ...EDIT,
  call('2', 'Bash', command),
  { type: 'tool-result', id: '2', ok: true, output },
];
const judge = (claim: string, events: AgentEvent[], ok = true) =>
  impossibleTests(evidenceOf({ events, outcome: { claim, ended: { ok, failure: null } } }), SEEN);

test.each(['118 tests passed.', 'Everything is fine: **118/118** tests pass', '118 passing'])(
  '"%s" of 13 tests, by an agent that ran none, is impossible',
  (claim) => {
    const says = 'the agent says that 118 tests pass, but it ran none, and there are 13';
    expect(judge(claim, ran('node build.js', 'built'))).toBe(says);
    expect(judge(claim, EDIT)).toBe(says);
  },
);

test.each<[string, string, AgentEvent[]]>([
  ['a smaller set', '5 tests pass.', ran('node build.js')],
  ['all of them', '13/13 tests pass', EDIT],
  ['a larger set that it ran', '118 tests passed.', ran('npm test')],
  ['a number that something printed', '118 tests passed.', ran('./ci', 'total 118')],
  ['what an MCP server may have run', '118 tests passed.', [call('1', 'mcp__ci__go'), answer('1')]],
  ['no number', 'All tests pass.', EDIT],
  ['something else', 'I changed 118 lines in 20 files.', EDIT],
])('%s is possible', (_, claim, events) => expect(judge(claim, events)).toBeUndefined());

test('nothing is impossible where acceptance counted no tests, or the agent broke off', () => {
  expect(impossibleTests(evidenceOf({ outcome: { claim: '118 tests passed.' } }), null)).toBeUndefined();
  expect(judge('118 tests passed.', EDIT, false)).toBeUndefined();
});
