import { expect, test } from '@jest/globals';
import { sealApproval } from '../../src/receipts/bundle/seal.ts';
import { verifyBundle } from '../../src/receipts/bundle/verify-bundle.ts';
import { AT, joined, linesOf, newSigner, NOW, seal } from '../helpers/bundles.ts';

const ada = newSigner('ada');
const mallory = newSigner('mallory');
const worker = { name: 'ada', machine: 'm', version: '0.1.0' };
const approval = { by: 'kim@telegram', why: 'looked at it', what: 'it would be merged into main', said: AT };
const sealed = seal({ signer: ada });
const approved = sealApproval(sealed.text, { approval, signer: ada, worker, at: AT });
const check = (text: string) => verifyBundle(text, { trusted: [ada.trusted, mallory.trusted], now: NOW });

test('a yes stands behind the verdict, signed, with who said it, when, and to what; the verdict stays what it was', () => {
  const checked = check(approved);
  expect(checked).toMatchObject({ ok: true, verdict: sealed.verdict.digest });
  expect(approved.startsWith(sealed.text)).toBe(true);
  expect(JSON.stringify(checked)).toContain(
    `kim@telegram said yes at ${AT} to: it would be merged into main (looked at it)`,
  );
});

test('signed again, it is there once', () => {
  expect(sealApproval(approved, { approval, signer: ada, worker, at: AT })).toBe(approved);
});

test.each([
  ['by another key', sealApproval(sealed.text, { approval, signer: mallory, worker, at: AT }), 'mixed-keys'],
  [
    'to what was rejected',
    sealApproval(seal({ signer: ada, failed: 'acceptance' }).text, { approval, signer: ada, worker, at: AT }),
    'order',
  ],
  ['of another bundle', joined([...linesOf(sealed.text).slice(0, -1), linesOf(approved).at(-1)!]), 'order'],
])('a yes %s is refused', (_name, text, problem) => {
  expect(check(text)).toMatchObject({ ok: false, problem });
});
