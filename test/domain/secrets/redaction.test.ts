import { expect, test } from '@jest/globals';
import { Redaction, secretsIn } from '../../../src/domain/secrets/redaction.ts';

const TOKEN = 'npm_0d1/Zz+q"\\7cafe\n2nd';
const redaction = new Redaction({ NPM_TOKEN: TOKEN, AWS_KEY: 'npm_0d1/Zz' });

test('what of an environment is a secret', () => {
  const env = {
    ...{ NODE_ENV: 'production', JOURNAL: '/var/lib/journal', PORT: '12345678', REGION: 'eu-central-1a', EMPTY: '' },
    ...{ BASE_URL: 'https://host/v1', PROXY: 'http://proxy:3128', PATHS: '/usr/bin:/bin', SHORT_KEY: 'abc' },
    ...{ A_TOKEN: 'lettersonly', B: 'q7-Zr9-x81', HTTPS_PROXY: 'http://u:p@proxy:3128', KEY_URL: 'https://u:pw@h/x' },
  };
  expect(Object.keys(secretsIn(env)).sort()).toEqual(['A_TOKEN', 'B', 'HTTPS_PROXY', 'KEY_URL']);
});

test.each<[string, string]>([
  ['as it is', TOKEN],
  ['as a text of JSON', JSON.stringify({ t: TOKEN })],
  ['as JSON within JSON', JSON.stringify({ t: JSON.stringify({ t: TOKEN }) })],
  ['as a part of a URL', `https://h/?t=${encodeURIComponent(TOKEN)}`],
  ['in hex', Buffer.from(`a ${TOKEN}`).toString('hex')],
  ...['', 'x', 'xy', 'user:'].map((before): [string, string] => [
    `in base64 behind ${before.length}`,
    Buffer.from(`${before}${TOKEN}:and more`).toString('base64'),
  ]),
  ['in base64 for URLs', Buffer.from(`ab${TOKEN}`).toString('base64url')],
])('a secret %s is masked, and the text stays as long', (_how, text) => {
  const masked = redaction.text(text);
  expect(masked).toContain('[NPM_TOKEN]*');
  expect(masked).toHaveLength(text.length);
  for (const form of redaction.forms) expect(masked).not.toContain(form.text);
  const decoded = Buffer.from(masked, 'base64').toString('latin1') + Buffer.from(masked, 'hex').toString('latin1');
  expect(decoded).not.toContain('0d1/Zz+q');
});

test('in all texts of a value, and what holds none stays as it is', () => {
  const at = new Date();
  expect(redaction.deep({ a: [`x ${TOKEN}`, 1, null], [TOKEN]: { at } })).toEqual({
    a: ['x [NPM_TOKEN]************', 1, null],
    '[NPM_TOKEN]************': { at },
  });
  expect(redaction.text('nothing to hide')).toBe('nothing to hide');
});
