import { describe, expect, test } from '@jest/globals';
import { RECEIPT_KINDS, type Receipt } from '../../src/domain/receipt.ts';
import { canonical, sealReceipts, verifyChain } from '../../src/receipts/seal.ts';

const findings = RECEIPT_KINDS.map((kind, n) => ({
  kind,
  ok: true,
  summary: `no. ${n}`,
  evidence: { n, nested: { b: 1, a: [2] } },
}));

describe('a chain', () => {
  const receipts = sealReceipts(findings);

  test('holds, also after it was stored', () => {
    expect(verifyChain(receipts)).toBeUndefined();
    expect(verifyChain(JSON.parse(JSON.stringify(receipts)) as Receipt[])).toBeUndefined();
    expect(verifyChain([])).toBeUndefined();
    expect(receipts.map(({ previous }) => previous)).toEqual([
      null,
      ...receipts.slice(0, -1).map(({ digest }) => digest),
    ]);
  });

  const change = (i: number, by: Partial<Receipt>) =>
    receipts.map((receipt, j) => (i === j ? { ...receipt, ...by } : receipt));
  test.each<[string, Receipt[], string]>([
    ['a verdict changed', change(1, { ok: false }), 'receipt 2 (result) is not what its digest says'],
    ['a sentence changed', change(0, { summary: 'x' }), 'receipt 1 (exit) is not what its digest says'],
    ['evidence changed', change(3, { evidence: { n: 3 } }), 'receipt 4 (git) is not what its digest says'],
    ['a reason added', change(3, { reason: 'tampered' }), 'receipt 4 (git) is not what its digest says'],
    ['one dropped', receipts.filter((_, i) => i !== 2), 'receipt 3 (git) does not follow the one before it'],
    ['the first dropped', receipts.slice(1), 'receipt 1 (result) does not follow the one before it'],
    ['one twice', [receipts[0]!, ...receipts], 'receipt 2 (exit) does not follow the one before it'],
    ['two swapped', [receipts[0]!, receipts[2]!, receipts[1]!], 'receipt 2 (tools) does not follow the one before it'],
  ])('%s', (_name, chain, wrong) => expect(verifyChain(chain)).toBe(wrong));
});

test('the order of keys and what is undefined make no difference', () => {
  expect(canonical({ b: 1, a: { d: [1, { z: 1, y: 2 }], c: undefined } })).toBe('{"a":{"d":[1,{"y":2,"z":1}]},"b":1}');
});
