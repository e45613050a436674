import { canonical } from '../../src/receipts/canonical.ts';
import { envelopeOf, payloadOf, signed } from '../helpers/bundles.ts';
import { ada, lines, put, withEnvelope, type Forgery } from './forgery-lab.ts';

/** The same statement in another form, which two readers might read differently. */
export const FORM_FORGERIES: readonly Forgery[] = [
  [
    'a key twice in the envelope',
    'not-canonical',
    4,
    () => put(3, lines[3]!.replace('"payloadType":', '"payloadType":"application/json","payloadType":')),
  ],
  [
    'a key twice in the payload',
    'not-canonical',
    4,
    () => put(3, signed(payloadOf(lines[3]!).replace('"ok":true', '"ok":true,"ok":true'), ada)),
  ],
  [
    'a statement re-encoded',
    'not-canonical',
    4,
    () => put(3, signed(JSON.stringify(JSON.parse(payloadOf(lines[3]!)), null, 1), ada)),
  ],
  ['an envelope re-encoded', 'not-canonical', 4, () => put(3, lines[3]!.replace(':', ': '))],
  [
    'base64 with something behind it',
    'not-an-envelope',
    4,
    () => withEnvelope(3, (envelope) => ({ ...envelope, payload: `${envelope.payload}=x` })),
  ],
  [
    'bytes that are no UTF-8',
    'not-json',
    4,
    () =>
      put(
        3,
        (() => {
          const payload = Buffer.from([0xff]);
          return canonical({
            payload: payload.toString('base64'),
            payloadType: envelopeOf(lines[3]!).payloadType,
            signatures: [
              {
                keyid: ada.id,
                sig: ada
                  .sign(Buffer.concat([Buffer.from('DSSEv1 28 application/vnd.in-toto+json 1 '), payload]))
                  .toString('base64'),
              },
            ],
          });
        })(),
      ),
  ],
];
