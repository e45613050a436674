import { canonical } from '../../src/receipts/canonical.ts';
import { AT, envelopeOf, joined, linesOf, payloadOf, seal, signed } from '../helpers/bundles.ts';
import {
  ACCEPTANCE,
  ada,
  eve,
  honest,
  lines,
  mallory,
  put,
  rejected,
  VERDICT,
  withEnvelope,
  type Forgery,
} from './forgery-lab.ts';

/** Who signed it, when and how. */
export const SIGNATURE_FORGERIES: readonly Forgery[] = [
  ['signed by a stranger', 'wrong-key', 1, () => joined(linesOf(seal({ signer: mallory }).text))],
  ['one line by a stranger', 'wrong-key', 4, () => put(3, signed(payloadOf(lines[3]!), mallory))],
  [
    "by a stranger under a worker's name",
    'bad-signature',
    4,
    () =>
      withEnvelope(3, (envelope) => ({
        ...envelope,
        signatures: [{ keyid: ada.id, sig: mallory.over(envelope.payloadType, payloadOf(lines[3]!)) }],
      })),
  ],
  ['one line by another worker', 'mixed-keys', 4, () => put(3, signed(payloadOf(lines[3]!), eve))],
  [
    'by a key that had expired',
    'expired-key',
    1,
    () => honest,
    { trusted: [{ ...ada.trusted, notAfter: '2026-11-21T11:00:00Z' }] },
  ],
  [
    'by a key that was not valid yet',
    'key-not-yet-valid',
    1,
    () => honest,
    { trusted: [{ ...ada.trusted, notBefore: '2026-11-21T13:00:00Z' }] },
  ],
  ['dated ahead', 'from-the-future', 1, () => honest, { now: Date.parse(AT) - 3_600_000 }],
  [
    'a second signature',
    'signatures',
    4,
    () => withEnvelope(3, ({ signatures: [one], ...rest }) => ({ ...rest, signatures: [one, one] })),
  ],
  ['no signature', 'signatures', 4, () => withEnvelope(3, (envelope) => ({ ...envelope, signatures: [] }))],
  [
    'a payload tampered with',
    'bad-signature',
    ACCEPTANCE + 1,
    () =>
      withEnvelope(ACCEPTANCE, (envelope) => ({
        ...envelope,
        payload: Buffer.from(payloadOf(lines[ACCEPTANCE]!).replace('as it', 'is it')).toString('base64'),
      })),
  ],
  [
    'the verdict flipped and not signed',
    'bad-signature',
    VERDICT + 1,
    () =>
      joined(
        rejected.with(
          VERDICT,
          canonical({
            ...envelopeOf(rejected[VERDICT]!),
            payload: Buffer.from(
              payloadOf(rejected[VERDICT]!)
                .replaceAll('FAILED', 'PASSED')
                .replace('"accepted":false', '"accepted":true'),
            ).toString('base64'),
          }),
        ),
      ),
  ],
  [
    'the type of the payload swapped',
    'payload-type',
    4,
    () => withEnvelope(3, (envelope) => ({ ...envelope, payloadType: 'application/json' })),
  ],
  [
    'signed as another type',
    'bad-signature',
    4,
    () =>
      put(
        3,
        signed(payloadOf(lines[3]!), ada, 'application/json').replace(
          'application/json',
          'application/vnd.in-toto+json',
        ),
      ),
  ],
];
