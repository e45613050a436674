import { describe, expect, test } from '@jest/globals';
import { claimsWork } from '../../../src/receipts/claims/claimed-work.ts';
import { git } from '../../../src/receipts/kinds/git.ts';
import { tools } from '../../../src/receipts/kinds/tools.ts';
import { evidenceOf } from '../evidence.ts';

const HONEST = [
  'I could not do this: the file src/cart.ts does not exist in this repository.',
  "I couldn't find where the total is computed, so I changed nothing.",
  'I was not able to fix the bug. The build needs a compiler that is not here.',
  'I cannot do this without access to the registry.',
  'Unfortunately the API has been removed upstream, so I could not add the endpoint.',
  'The API has been removed upstream. I did not change any file.',
  'Done. I could not find the function, so no files were changed.',
  'The bug is already fixed on this branch; nothing was left to do.',
  'I have not made any changes.',
  'No changes were made.',
  'I am stuck: the specification contradicts itself.',
  'Which of the two should be fixed?',
  'To finish this, the schema has to be updated first.',
  'I looked at the code and would suggest to add a test.',
  'Ich konnte das nicht tun.',
  'The sum is computed in src/sum.js.',
  '',
];

const CLAIMS = [
  'All done: hello.txt is committed.',
  'Done.',
  'I fixed the bug in sum.js.',
  "I've added a health endpoint and updated the README.",
  'Implemented the endpoint.',
  'The endpoint has been implemented.',
  'The task is complete.',
  'I updated the parser, but could not run the tests.',
  'Everything works now.',
  'Everything is in place.',
  'Erledigt.',
];

describe('an agent that changed nothing', () => {
  test.each(HONEST)('“%s” is no claim of work: it is rejected, and not called fabricated', async (claim) => {
    expect(claimsWork(claim)).toBe(false);
    const evidence = evidenceOf({ events: [], outcome: { claim }, result: { changes: [] } });
    for (const receipt of [await git.collect(evidence), await tools.collect(evidence)]) {
      expect(receipt).toMatchObject({ ok: false });
      expect(receipt).not.toHaveProperty('reason');
    }
  });

  test.each(CLAIMS)('“%s” is contradicted', async (claim) => {
    expect(claimsWork(claim)).toBe(true);
    const evidence = evidenceOf({ events: [], outcome: { claim }, result: { changes: [] } });
    for (const receipt of [await git.collect(evidence), await tools.collect(evidence)])
      expect(receipt).toMatchObject({ ok: false, reason: 'fabricated' });
  });
});
