import { chmodSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { openKeys } from '../../../src/adapters/secrets/worker-keys.ts';
import { sealText } from '../../../src/adapters/secrets/age-seal.ts';
import { homeLayout } from '../../../src/domain/names.ts';
import { tempDir } from '../../helpers/temp.ts';

async function bench() {
  const temp = await tempDir();
  const home = homeLayout(temp.path);
  return { home, open: () => openKeys(home), [Symbol.asyncDispose]: temp[Symbol.asyncDispose] };
}

describe('the keys of a home', () => {
  test('are made once, for nobody else to read, and stay', async () => {
    await using b = await bench();
    const first = await b.open();
    const { keys } = b.home;
    const files = [keys.signing, keys.identity];
    expect(readdirSync(keys.dir).sort()).toEqual(['identity.age', 'signing.pem']);
    expect([keys.dir, ...files].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600, 0o600]);
    const before = files.map((path) => readFileSync(path, 'utf8'));
    const second = await b.open();
    expect(second.shared).toEqual(first.shared);
    expect(files.map((path) => readFileSync(path, 'utf8'))).toEqual(before);
    expect(Date.parse(first.shared.publicKey.since)).toBeLessThanOrEqual(Date.now());
  });

  test('sign as the public part says, which says nothing of the private one', async () => {
    await using b = await bench();
    const { signer, shared } = await b.open();
    const key = createPublicKey({ key: Buffer.from(shared.publicKey.key, 'base64'), format: 'der', type: 'spki' });
    expect(verify(null, Buffer.from('x'), key, signer.sign(Buffer.from('x')))).toBe(true);
    expect(signer.id).toBe(shared.publicKey.id);
    const [secret] = /AGE-SECRET-KEY-\S+/.exec(readFileSync(b.home.keys.identity, 'utf8'))!;
    const pem = readFileSync(b.home.keys.signing, 'utf8').split('\n')[2]!;
    const shown = JSON.stringify(await b.open());
    expect(shown).toContain(shared.recipient);
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(pem);
  });

  test('that one is missing of are completed, and the other one stays', async () => {
    await using b = await bench();
    const { keys } = b.home;
    await b.open();
    const pem = readFileSync(keys.signing, 'utf8');
    rmSync(keys.identity);
    const draft = `${keys.identity}.1.1.tmp`;
    writeFileSync(draft, 'a draft of one who died');
    await b.open();
    expect(readFileSync(keys.signing, 'utf8')).toBe(pem);
    expect(readFileSync(keys.identity, 'utf8')).toContain('AGE-SECRET-KEY-');
    expect(readdirSync(keys.dir).sort()).toEqual(['identity.age', basename(draft), 'signing.pem']);
  });

  test.each(['dir', 'signing', 'identity'] as const)('are refused where others can read them: %s', async (which) => {
    await using b = await bench();
    await b.open();
    const path = b.home.keys[which];
    chmodSync(path, which === 'dir' ? 0o755 : 0o640);
    const mode = which === 'dir' ? '755' : '640';
    const refused = { exitCode: 2, message: `${path} is open to other users (mode ${mode})` };
    await expect(b.open()).rejects.toMatchObject(refused);
  });

  test.each([
    ['signing', 'an Ed25519 private key'],
    ['identity', 'an age identity'],
  ] as const)('are refused where they are broken, and not replaced: %s', async (which, what) => {
    await using b = await bench();
    await b.open();
    const path = b.home.keys[which];
    for (const length of [0, 100]) {
      truncateSync(path, length);
      await expect(b.open()).rejects.toMatchObject({ exitCode: 2, message: `${path} is not ${what}` });
      expect(statSync(path).size).toBe(length);
    }
  });
});

describe('sealed text', () => {
  test('is for each of the workers that it was sealed to', async () => {
    await using ada = await bench();
    await using eve = await bench();
    await using mallory = await bench();
    const [a, e, m] = await Promise.all([ada.open(), eve.open(), mallory.open()]);
    const sealed = await sealText('exit 1 # ü\n', [a.shared.recipient, e.shared.recipient]);
    expect(sealed).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----\n[^]*\n-----END AGE ENCRYPTED FILE-----\n?$/);
    expect(await a.openSealed(sealed)).toBe('exit 1 # ü\n');
    expect(await e.openSealed(`\n${sealed}\n`)).toBe('exit 1 # ü\n');
    await expect(m.openSealed(sealed)).rejects.toThrow(
      'it was not sealed to this worker: seal it again with fleet seal --worker <name>',
    );
  });

  test.each(['', 'hello', '-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n-----END AGE ENCRYPTED FILE-----'])(
    'that is damaged is told: %j',
    async (text) => {
      await using b = await bench();
      await expect((await b.open()).openSealed(text)).rejects.toThrow('it is damaged');
    },
  );
});
