import { expect, test } from '@jest/globals';
import { askedIn, promptIn } from '../../src/domain/asks.ts';

test.each([
  'Username for https://git.example.com: ',
  'Cloning…\n\nroot@host password:',
  'Enter passphrase for key /home/a/.ssh/id: ',
  'Are you sure you want to continue connecting (yes/no/[fingerprint])? ',
  'Do you trust the files in this folder?',
  'Do you want to allow this command? [y/N] ',
  '\u001b[1mPress Enter to continue\u001b[0m\r\n',
  'Open this page in your browser: https://example.com/oauth/authorize?code=1',
  'Please sign in: https://example.com/device',
  'Waiting for authentication… ',
  'Enter the authorization code: ',
  'Apply this change? (Y/n)',
])('%j asks somebody', (output) => {
  expect(askedIn(output)).toBeDefined();
});

test.each([
  '',
  'Compiling…',
  'I will ask for the password later.',
  'Tests: 86 passed',
  'Downloading https://example.com/package.tgz',
  'user: ada\nDone.',
  'Do you want tea? No.\nBuilding',
  '{"type":"text","text":"Shall I continue? I do."}',
])('%j does not', (output) => {
  expect(askedIn(output)).toBeUndefined();
});

test('what is asked is named, in short and without what a terminal would act on', () => {
  expect(askedIn('a\n\u001b[31mPassword: \u001b[0m')).toBe('Password:');
  expect(askedIn(`${'x'.repeat(10_000)} (y/n)?`)!.length).toBe(200);
});

test('only a line that is not ended is a prompt: a hint that was printed before may be the last of its stream for long', () => {
  expect(promptIn('Tip\nPlease sign in: https://example.com/device\n')).toBeUndefined();
  expect(promptIn('Password: \u001b[0m')).toBe('Password:');
  expect(promptIn('Do it? [y/N]\u001b[K\n')).toBeUndefined();
});
