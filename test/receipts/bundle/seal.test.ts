import { createHash, createPublicKey, verify } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { RECEIPT_KINDS } from '../../../src/domain/evidence/receipt.ts';
import { canonical } from '../../../src/receipts/canonical.ts';
import { asked } from '../../../src/receipts/bundle/context.ts';
import { COLLECTORS } from '../../../src/receipts/index.ts';
import type { Statement } from '../../../src/receipts/bundle/statement.ts';
import { AT, envelopeOf, FINDINGS, linesOf, newSigner, payloadOf, seal } from '../../helpers/bundles.ts';
import { evidenceOf } from '../evidence.ts';

const ada = newSigner('ada');
const sealed = seal({ signer: ada });
const lines = linesOf(sealed.text);
const statements = lines.map((line) => JSON.parse(payloadOf(line)) as Statement);
const [run, exit] = statements;
const last = statements.at(-1)!;

test('each line is signed as DSSE has it, which any other tool can check', () => {
  const key = createPublicKey({ key: Buffer.from(ada.trusted.key, 'base64'), format: 'der', type: 'spki' });
  for (const line of lines) {
    const { payload, payloadType, signatures } = envelopeOf(line);
    const bytes = Buffer.from(payload, 'base64');
    const pae = Buffer.concat([Buffer.from(`DSSEv1 28 application/vnd.in-toto+json ${bytes.length} `), bytes]);
    expect(payloadType).toBe('application/vnd.in-toto+json');
    expect(signatures).toHaveLength(1);
    expect(signatures[0]!.keyid).toBe(
      createHash('sha256').update(Buffer.from(ada.trusted.key, 'base64')).digest('hex'),
    );
    expect(verify(null, pae, key, Buffer.from(signatures[0]!.sig, 'base64'))).toBe(true);
  }
});

test('the run stands first, the receipts in their order, the verdict last', () => {
  const kinds = statements.map(({ predicate }) => predicate.x_fleet.kind);
  expect(kinds).toEqual(['run', ...FINDINGS.map(({ kind }) => kind), 'verdict']);
  expect(exit!.predicate.x_fleet).toMatchObject({
    ...{ task: 't1', runId: '2-abcd', n: 2, workflowRunId: 'w-1', base: 'b'.repeat(40), at: AT, kind: 'exit' },
    receipt: { ok: true, summary: 'as it should be' },
  });
  expect(run!.subject).toHaveLength(1);
  expect(run!.subject[0]).toMatchObject({
    ...{ name: 't1@2-abcd', digest: { gitCommit: 'c'.repeat(40), gitTree: 'd'.repeat(40) } },
  });
});

test("predicates are in-toto's own where there are any", () => {
  const types = Object.fromEntries(
    statements.map(({ predicate, predicateType }) => [predicate.x_fleet.kind, predicateType]),
  );
  expect(types).toMatchObject({
    run: 'https://slsa.dev/provenance/v1',
    acceptance: 'https://in-toto.io/attestation/test-result/v0.1',
    control: 'https://in-toto.io/attestation/test-result/v0.1',
    exit: 'urn:infinity-fleet:receipt:exit:v1',
    verdict: 'https://slsa.dev/verification_summary/v1',
  });
  expect(last.predicate).toMatchObject({ verificationResult: 'PASSED', verifiedLevels: ['FLEET_ACCEPTED'] });
});

test('digests are those of the payloads, each chained to the one before, and the verdict lists them all', () => {
  const digests = lines.map((line) => createHash('sha256').update(payloadOf(line)).digest('hex'));
  expect([...sealed.receipts, sealed.verdict].map(({ digest }) => digest)).toEqual(digests.slice(1));
  expect(statements.map(({ predicate }) => predicate.x_fleet.prev)).toEqual([null, ...digests.slice(0, -1)]);
  expect(last.predicate['inputAttestations']).toEqual(digests.slice(0, -1).map((sha256) => ({ digest: { sha256 } })));
});

test('the same findings sealed again give the same bundle', () => {
  expect(seal({ signer: ada }).text).toBe(sealed.text);
});

test('a bundle names held-out checks by their digest only', () => {
  const evidence = evidenceOf({ task: { verify: { heldOut: [{ path: 'secret-name.sh' }] } } });
  const shown = JSON.stringify(asked(evidence.task, evidence.policy));
  expect(shown).not.toContain('secret-name');
  expect(shown.match(/"heldOut":\[\{"sha256":"[0-9a-f]{64}"\}\]/g)).toHaveLength(2);
});

test('collectors stand in the order that a bundle must have', () => {
  const ranks = COLLECTORS.map(({ kind }) => RECEIPT_KINDS.indexOf(kind));
  expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
});

describe('canonical JSON', () => {
  test('the order of keys and what is undefined make no difference', () => {
    expect(canonical({ b: 1, a: { d: [1, { z: 1, y: 2 }], c: undefined } })).toBe(
      '{"a":{"d":[1,{"y":2,"z":1}]},"b":1}',
    );
  });

  test.each(['{"__proto__":1,"a":2}', '{"10":1,"9":2,"a":3}', '"\\ud800"', '1e21', '{"ü":"\\u0000"}'])(
    '%s goes through it unchanged, in one order',
    (text) => {
      const once = canonical(JSON.parse(text));
      expect(canonical(JSON.parse(once))).toBe(once);
    },
  );
});
