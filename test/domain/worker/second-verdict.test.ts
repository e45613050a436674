import { expect, test } from '@jest/globals';
import { settledBy } from '../../../src/domain/worker/second-verdict.ts';
import type { Verified } from '../../../src/domain/view/task-view.ts';

const FIRST: Verified = {
  verdict: { accepted: true, reasons: [], acceptance: true, digest: 'first' } as unknown as Verified['verdict'],
  ...{ receipts: [], commit: 'c0ffee', elsewhere: true, irreversible: 'it changes 1.sql (irreversible.paths: *.sql)' },
};
const second = { receipt: { kind: 'replay', ok: true } as never, verdict: 'second' };

test('what the first worker calls irreversible still waits for a person, once a second one has verified it', () => {
  expect(settledBy(FIRST, { ok: true }, second)).toEqual({
    ...{ commit: 'c0ffee', irreversible: FIRST.irreversible, receipts: [second.receipt] },
    verdict: { ...FIRST.verdict, digest: 'second' },
  });
});

test.each([
  [true, 1, 'second'],
  [false, 0, 'first'],
])('refused by the second one; its receipt holds: %s', (holds, receipts, digest) => {
  const settled = settledBy(FIRST, { ok: false, holds, why: 'they differ' }, second);
  expect(settled.receipts).toHaveLength(receipts);
  expect(settled.verdict).toMatchObject({ accepted: false, reason: 'receipts-rejected', digest });
  expect(settled).not.toHaveProperty('elsewhere');
});
