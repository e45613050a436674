/** Text that only some workers can read: age files, https://age-encryption.org/v1, that the `age` command reads and writes as well. */

export interface Identity {
  /** `AGE-SECRET-KEY-1…` */
  secret: string;
  /** `age1…` */
  recipient: string;
}

/** Loaded where it is needed: it takes 15 MB. */
const age = () => import('age-encryption');

export async function newIdentity(): Promise<Identity> {
  const { generateX25519Identity, identityToRecipient } = await age();
  const secret = await generateX25519Identity();
  return { secret, recipient: await identityToRecipient(secret) };
}

/** Armoured text that each of the recipients can read alone. */
export async function sealText(text: string, recipients: readonly string[]): Promise<string> {
  const { Encrypter, armor } = await age();
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return armor.encode(await encrypter.encrypt(text));
}

/** @throws Error with one sentence where it was sealed to others, or is damaged */
export async function openText(sealed: string, { secret }: Identity): Promise<string> {
  const { Decrypter, armor } = await age();
  const decrypter = new Decrypter();
  decrypter.addIdentity(secret);
  try {
    return await decrypter.decrypt(armor.decode(sealed.trim()), 'text');
  } catch (error) {
    const other = error instanceof Error && error.message.startsWith('no identity matched');
    throw new Error(
      other
        ? 'it was not sealed to this worker: seal it again with fleet seal --worker <name>'
        : 'it is damaged: seal it again with fleet seal --worker <name>',
      { cause: error },
    );
  }
}
