import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { formatTrustedKeys, parseTrustedKeys } from '../../../src/receipts/bundle/trusted-keys.ts';
import { newSigner } from '../../helpers/bundles.ts';

const { trusted: ada } = newSigner('ada');
const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'der', type: 'spki' });
const file = (...keys: object[]): string => JSON.stringify({ keys });

test('what was written is read', () => {
  const keys = [ada, { ...newSigner('eve').trusted, notBefore: '2026-01-01T00:00:00Z' }];
  expect(parseTrustedKeys(formatTrustedKeys(keys))).toEqual(keys);
  expect(parseTrustedKeys(file())).toEqual([]);
});

test.each([
  ['', 'is no JSON'],
  ['[]', 'is wrong: input must be an object'],
  [file({ ...ada, key: 'AAAA' }), 'is wrong: keys[0].key must be an Ed25519 public key'],
  [file({ ...ada, key: rsa.toString('base64') }), 'is wrong: keys[0].key must be an Ed25519 public key'],
  [file(ada, { ...ada, id: 'a'.repeat(64) }), 'is wrong: keys[1].id must be the SHA-256 of the key'],
  [file({ ...ada, notAfter: 'soon' }), 'is wrong: keys[0].notAfter must be a time such as 2026-01-31T12:00:00Z'],
  [file({ ...ada, revoked: true }), 'is wrong: keys[0].revoked is not a known field'],
  ['{"keys":{}}', 'is wrong: keys must be an array'],
])('%#: what is wrong is one sentence', (text, sentence) => {
  expect(parseTrustedKeys(text)).toBe(sentence);
});
