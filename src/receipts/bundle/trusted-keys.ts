import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { keyIdOf, readPublicKey } from '../../adapters/secrets/signer.ts';
import { firstIssue } from '../../domain/artifact/first-issue.ts';

/** The file of keys that a reader of bundles trusts: `{ "keys": [ … ] }`, for people to edit. */

const when = z.iso.datetime({ error: 'must be a time such as 2026-01-31T12:00:00Z' }).nullable();
const trustedKey = z
  .strictObject({
    /** SHA-256 of the key's DER (SPKI), hex. */
    id: z.string(),
    /** Ed25519, base64 of the DER (SPKI). */
    key: z.string().refine((key) => readPublicKey(key) !== undefined, { error: 'must be an Ed25519 public key' }),
    worker: z.string(),
    machine: z.string(),
    /** What it signed before, or after, is not accepted; null: no limit. */
    notBefore: when,
    notAfter: when,
  })
  .refine(({ id, key }) => keyIdOf(Buffer.from(key, 'base64')) === id, {
    error: 'must be the SHA-256 of the key',
    path: ['id'],
  });
const keysFile = z.strictObject({ keys: z.array(trustedKey).max(10_000) });
export type TrustedKey = z.output<typeof trustedKey>;

/** The keys, or what is wrong as one sentence: `keys[0].id must be the SHA-256 of the key`. */
export function parseTrustedKeys(text: string): TrustedKey[] | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'is no JSON';
  }
  const read = keysFile.safeParse(value);
  return read.success ? read.data.keys : `is wrong: ${firstIssue(read.error)}`;
}

/** As written to the file. */
export const formatTrustedKeys = (keys: readonly TrustedKey[]): string => `${JSON.stringify({ keys }, null, 2)}\n`;

/** The trusted keys of that id, each with its window. */
export function keysOf(
  trusted: readonly TrustedKey[],
  id: string,
): { entries: TrustedKey[]; key: KeyObject } | undefined {
  const entries = trusted.filter((entry) => entry.id === id);
  const key = entries[0] && readPublicKey(entries[0].key);
  return key && { entries, key };
}
