import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { sha256 } from '../sha256.ts';
import type { PublicKey } from '../../domain/worker/worker.ts';

/** Signs with an Ed25519 key that nothing else sees. */
export interface Signer {
  /** SHA-256 of the public key's DER (SPKI), hex. */
  id: string;
  sign(bytes: Buffer): Buffer;
}

export function signerOf(privateKey: KeyObject): Signer {
  return { id: publicPart(privateKey).id, sign: (bytes) => sign(null, bytes, privateKey) };
}

export function publicPart(privateKey: KeyObject): Omit<PublicKey, 'since'> {
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { id: keyIdOf(der), key: der.toString('base64') };
}

export const keyIdOf = (der: Buffer): string => sha256(der);

/** An Ed25519 public key as base64 of its DER (SPKI); undefined where it is none. */
export function readPublicKey(key: string): KeyObject | undefined {
  try {
    const read = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
    return read.asymmetricKeyType === 'ed25519' ? read : undefined;
  } catch {
    return undefined;
  }
}

export const isSignedBy = (key: KeyObject, bytes: Buffer, signature: Buffer): boolean =>
  verify(null, bytes, key, signature);
