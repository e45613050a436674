import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { type FleetError, wrongInput } from '../../domain/error.ts';
import type { HomeLayout } from '../../domain/names.ts';
import type { WorkerKeys } from '../../domain/worker/worker.ts';
import { createTextSync } from '../disk/json-file.ts';
import { newIdentity, openText, type Identity } from './age-seal.ts';
import { publicPart, signerOf, type Signer } from './signer.ts';

/** What a worker signs and reads sealed checks with. The private parts stay in here. */
export interface Keys {
  signer: Signer;
  /** For the worker's record. */
  shared: WorkerKeys;
  /** The text that was sealed to this worker. @throws Error with one sentence where it was not, or is damaged */
  openSealed(text: string): Promise<string>;
}

/** Both files have it, before the key itself. */
const CREATED = /^(?:# )?created: (\d{4}-\d\d-\d\dT[\d:.]+Z)$/m;
const SECRET = /^AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}$/m;
const RECIPIENT = /^# public key: (age1[02-9ac-hj-np-z]{58})$/m;

/**
 * The keys of this home, made where they are missing and never replaced.
 * @throws FleetError (2) where others can read them, or they are broken
 */
export async function openKeys({ keys }: HomeLayout, now = new Date()): Promise<Keys> {
  mkdirSync(keys.dir, { recursive: true, mode: 0o700 });
  requirePrivate(keys.dir, '700');
  const created = `created: ${now.toISOString()}`;
  const signing = await readOrMake(keys.signing, async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    return `${created}\n${privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()}`;
  });
  const sealing = await readOrMake(keys.identity, async () => {
    const { secret, recipient } = await newIdentity();
    return `# ${created}\n# public key: ${recipient}\n${secret}\n`;
  });
  const privateKey = signingKey(signing);
  const since = CREATED.exec(signing)?.[1];
  if (!privateKey || !since) throw broken(keys.signing, 'an Ed25519 private key');
  const identity = identityOf(sealing);
  if (!identity) throw broken(keys.identity, 'an age identity');
  return {
    signer: signerOf(privateKey),
    shared: { publicKey: { ...publicPart(privateKey), since }, recipient: identity.recipient },
    openSealed: (text) => openText(text, identity),
  };
}

function signingKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

function identityOf(text: string): Identity | undefined {
  const [secret] = SECRET.exec(text) ?? [];
  const recipient = RECIPIENT.exec(text)?.[1];
  return secret && recipient ? { secret, recipient } : undefined;
}

async function readOrMake(path: string, make: () => Promise<string>): Promise<string> {
  if (!statSync(path, { throwIfNoEntry: false })) createTextSync(path, await make());
  requirePrivate(path, '600');
  return readFileSync(path, 'utf8');
}

function requirePrivate(path: string, mode: string): void {
  const stat = statSync(path);
  const why =
    stat.uid !== process.getuid?.()
      ? `${path} belongs to another user`
      : (stat.mode & 0o077) !== 0
        ? `${path} is open to other users (mode ${(stat.mode & 0o777).toString(8)})`
        : undefined;
  if (why)
    throw wrongInput(why, {
      hint: `chmod ${mode} ${path}, and make new keys if others may have read them`,
    });
}

const broken = (path: string, what: string): FleetError =>
  wrongInput(`${path} is not ${what}`, {
    hint: 'put it back from a backup, or move it away: a new one is made, which readers of receipts have to be told of',
  });
