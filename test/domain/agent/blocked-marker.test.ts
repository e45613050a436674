import { expect, test } from '@jest/globals';
import { blockedIn } from '../../../src/domain/agent/blocked-marker.ts';
import { buildPrompt } from '../../../src/domain/prompt/prompt.ts';

test.each([
  ['FLEET-BLOCKED: the test contradicts the spec', 'the test contradicts the spec'],
  ['I tried two ways.\n\nFLEET-BLOCKED: no access to the registry\n', 'no access to the registry'],
  ['FLEET-BLOCKED: no key\n\nWhat I found:\n- `x` needs a key', 'no key'],
  ['It is not possible.\r\n**FLEET-BLOCKED:** es fehlt der Schlüssel\r\n\r\n', 'es fehlt der Schlüssel'],
  ['**FLEET-BLOCKED: no key**', 'no key'],
  ['`FLEET-BLOCKED: no key`', 'no key'],
  ['I ran:\n```sh\nmake\n```\nFLEET-BLOCKED: make needs docker', 'make needs docker'],
  ['```\n~~~\n```\nFLEET-BLOCKED: x1', 'x1'],
  ['FLEET-BLOCKED: \u001b[31mred\u001b[0m \u202eword', '[31mred [0m  word'],
])('%j: blocked', (message, reason) => expect(blockedIn(message)).toBe(reason));

test.each([
  '',
  'Done.',
  'Had I been stuck, I would have ended with FLEET-BLOCKED: reason',
  'The rule says:\n> FLEET-BLOCKED: reason',
  'Documented the marker:\n```\nFLEET-BLOCKED: no network\n```',
  '```\nFLEET-BLOCKED: no network',
  '~~~text\n```\nFLEET-BLOCKED: no network\n~~~',
  '    FLEET-BLOCKED: an indented code block',
  'I had thought of\nFLEET-BLOCKED: no network\nbut then it worked. All is done.',
  'FLEET-BLOCKED: <reason>',
  'FLEET-BLOCKED:',
  'FLEET-BLOCKED: …',
  'fleet-blocked: no',
  '- FLEET-BLOCKED: no network',
])('%j: not', (message) => expect(blockedIn(message)).toBeUndefined());

test('an agent that only repeats its prompt is not blocked', () => {
  const prompt = buildPrompt({
    task: { objective: 'Add x', type: 'code', artifacts: [] },
    policy: { allow: [], protect: [], newProtected: 'set-aside', verify: [] },
    ...{ answers: [], notes: [], outbox: { path: '/o', tools: ['ask_human', 'propose'] as const, mcp: true } },
    ...{
      feedback: [],
      resumed: null,
      tree: '/w/tree',
      branch: 'fleet/t',
      dropped: false,
      submodules: [],
      pointers: [],
    },
    ...{ plan: { path: '/p', text: '' }, knowledge: { path: '/k', text: '' } },
  });
  expect(prompt).toContain('`FLEET-BLOCKED: <reason>`');
  expect(blockedIn(prompt)).toBeUndefined();
  for (const line of prompt.split('\n')) expect(blockedIn(line)).toBeUndefined();
});
