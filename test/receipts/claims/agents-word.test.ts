import { expect, test } from '@jest/globals';
import { agentsWord } from '../../../src/receipts/claims/agents-word.ts';
import { sample } from '../../../src/receipts/bounded.ts';
import { answer, call, evidenceOf } from '../evidence.ts';

const KEY = 'abcdefghijkl0123456789';
const COMMAND = `curl -H 'Authorization: Bearer ${KEY}' https://example.com`;

test('a person is shown no key that an agent used or said', () => {
  const evidence = evidenceOf({
    events: [call('1', 'Bash', COMMAND), answer('1')],
    outcome: { claim: `I used sk-${KEY}` },
  });
  const word = agentsWord(evidence, []);
  expect(word).toMatchObject({
    said: 'I used sk-…',
    calls: ["Bash curl -H 'Authorization: Bearer …' https://example.com"],
  });
});

test('nor does a receipt', () =>
  expect(sample([COMMAND])).toEqual(["curl -H 'Authorization: Bearer …' https://example.com"]));

test('a person is shown what a check could not tell', () => {
  const unknown = ['report.md: https://a answers 403'];
  const found = { kind: 'artifacts' as const, ok: true, shows: false, summary: '', evidence: { outputs: [], unknown } };
  expect(agentsWord(evidenceOf(), [found])).toMatchObject({ unknown });
});
