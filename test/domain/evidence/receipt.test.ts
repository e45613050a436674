import { expect, test } from '@jest/globals';
import { judge, requiredKinds, type Receipt, type ReceiptKind } from '../../../src/domain/evidence/receipt.ts';

const task = {
  type: 'code',
  structured: true,
  verify: true,
  control: false,
  heldOut: false,
  review: false,
  artifacts: false,
} as const;
const receipt = (kind: ReceiptKind, ok = true, reason?: Receipt['reason']): Receipt => ({
  ...{ kind, ok, summary: ok ? 'fine' : 'broken', evidence: {}, digest: kind },
  ...(reason ? { reason } : {}),
});
const all = requiredKinds(task).map((kind) => receipt(kind));

test('accepted only if every required receipt is there and ok', () => {
  expect(judge(task, all)).toEqual({
    ...{ accepted: true, reasons: [], reason: null, acceptance: true },
    doneBy: [],
  });
});

test.each(requiredKinds(task))('no evidence means rejected: without %s', (kind) => {
  expect(
    judge(
      task,
      all.filter((each) => each.kind !== kind),
    ),
  ).toMatchObject({ accepted: false, reasons: [`${kind}: no receipt`] });
});

test.each(requiredKinds(task))('rejected when %s is not ok', (kind) => {
  const receipts = all.map((each) => (each.kind === kind ? receipt(kind, false) : each));
  expect(judge(task, receipts)).toMatchObject({
    accepted: false,
    reason: 'receipts-rejected',
    reasons: [`${kind}: broken`],
  });
});

test('a typed reason of a receipt becomes the reason of the verdict', () => {
  expect(judge(task, [receipt('exit'), receipt('git', false), receipt('scope', false, 'scope-violation')]).reason).toBe(
    'scope-violation',
  );
});

test('without an acceptance command a task can be accepted on the others, and says so', () => {
  const receipts = all.filter((each) => each.kind !== 'acceptance');
  expect(judge({ ...task, verify: false }, receipts)).toMatchObject({ accepted: true, acceptance: false });
});

test('a verdict names the receipts that show that it was done, and none that says no or only finds nothing wrong', () => {
  const shows = (kind: ReceiptKind, ok = true): Receipt => ({ ...receipt(kind, ok), shows: true });
  expect(judge({ ...task, type: 'message', verify: false }, [...all, shows('tools')])).toMatchObject({
    accepted: true,
    doneBy: ['tools'],
  });
  expect(judge(task, [...all, shows('review', false)])).toMatchObject({ accepted: false, doneBy: [] });
});

test('what a named check could not tell, no other receipt shows', () => {
  const untold: Receipt = { ...receipt('artifacts'), shows: false };
  for (const kind of ['tools', 'acceptance', 'git'] as const)
    expect(judge(task, [...all, { ...receipt(kind), shows: true }, untold])).toMatchObject({
      ...{ accepted: true, doneBy: [] },
    });
});
