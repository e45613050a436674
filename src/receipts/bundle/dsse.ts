import type { Signer } from '../../adapters/secrets/signer.ts';
import { canonical } from '../canonical.ts';

/** Dead Simple Signing Envelope, v1.0: https://github.com/secure-systems-lab/dsse/blob/master/envelope.md */

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

export interface Envelope {
  /** Base64. */
  payload: string;
  payloadType: string;
  /** `sig` is base64. */
  signatures: { keyid: string; sig: string }[];
}

/** What is signed: the type and the payload, each with its length. */
export function pae(type: string, payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** One line of JSON without its line break. */
export function signedLine(payload: string, { id, sign }: Signer): string {
  const bytes = Buffer.from(payload);
  const envelope: Envelope = {
    payload: bytes.toString('base64'),
    payloadType: PAYLOAD_TYPE,
    signatures: [{ keyid: id, sig: sign(pae(PAYLOAD_TYPE, bytes)).toString('base64') }],
  };
  return canonical(envelope);
}
