import { expect, test } from '@jest/globals';
import { askedIn, lastLines, promptIn } from '../../../src/domain/agent/terminal-prompts.ts';

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
  'Browse to https://example.com/a\n\nPaste code here if prompted > ',
  'Paste the authorization code here:',
  'Do you want to proceed?\n1. Yes\n2. No',
  'Do you want to proceed?\n❯ 1. Yes\n  2. No, and tell it what to do\n\nEsc to cancel',
  '╭──────────╮\n│ Bash(rm -f x)\n│ Do you want to proceed? │\n│ ❯ 1. Yes │\n│   2. No │\n╰──────────╯\n',
  'Which one:\n  1) npm\n  2) yarn\n  3) pnpm\n#? ',
  'Select an option: ',
  'To sign in, open this page:\nhttps://example.com/a/very/long/one?x=1',
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
  'What I did:\n1. Read it\n2. Wrote it\nAll tests pass now.',
  'What I did:\n1. Read it\n2. Wrote it',
  'Is it done? Yes.\n1. Read it\n3. Wrote it',
  'I pasted the code of the old module',
])('%j does not', (output) => {
  expect(askedIn(output)).toBeUndefined();
});

test('what is asked is told with the lines before it, without what a terminal would act on, and not too long', () => {
  expect(askedIn('a\n\u001b[31mPassword: \u001b[0m')).toBe('a\nPassword:');
  const said = askedIn(`${'word '.repeat(10_000)}\n${'line\nother\n'.repeat(500)}${'x'.repeat(10_000)} (y/n)?`)!;
  expect(said.length).toBeLessThan(1_100);
  expect(said).toMatch(/^(line\n|other\n)+x+ \(y\/n\)\?$/);
});

test('a menu is told with its question', () => {
  expect(askedIn('Bash(rm -f x)\n\nDo you want to proceed?\n❯ 1. Yes\n  2. No\n')).toBe(
    'Bash(rm -f x)\nDo you want to proceed?\n❯ 1. Yes\n2. No',
  );
});

test('an address that is long, or stands above, is told whole', () => {
  const url = `https://example.com/oauth/authorize?code=true&state=${'s'.repeat(1_500)}`;
  const between = Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n');
  expect(askedIn(`Open this page:\n${url}\n${between}\nPaste code here > `)).toContain(`\n${url}\n`);
  expect(askedIn(`See \u001b]8;;${url}\u0007this page\u001b]8;;\u0007\nPaste code here > `)).toContain(
    `this page ${url}`,
  );
});

test('what is said last is bounded', () => {
  expect(lastLines('\n \n')).toBeUndefined();
  expect(lastLines(`${'one\n'.repeat(1_000)}two\n`)).toBe('one\ntwo');
  const said = lastLines(Array.from({ length: 1_000 }, (_, i) => `line ${i}\n`).join(''));
  expect(said).toMatch(/^line 988\n[^]*\nline 999$/);
});

test('only a line that is not ended is a prompt: a hint that was printed before may be the last of its stream for long', () => {
  expect(promptIn('Tip\nPlease sign in: https://example.com/device\n')).toBeUndefined();
  expect(promptIn('Password: \u001b[0m')).toBe('Password:');
  expect(promptIn('Do it? [y/N]\u001b[K\n')).toBeUndefined();
  expect(promptIn('Do you want to proceed?\n1. Yes\n2. No\n')).toBeUndefined();
});

test('a menu that marks a choice is a prompt, also where its last line is ended', () => {
  expect(promptIn('Do you want to proceed?\n❯ 1. Yes\n  2. No\n')).toContain('proceed?');
});

test('spaces and prompts without end take no time', () => {
  const spaces = ' '.repeat(64 * 1_024);
  const began = process.cpuUsage();
  for (const output of [
    `a${spaces}b`,
    `a${'\n'.repeat(64 * 1_024)}b`,
    `${`${' '.repeat(2_000)}\n`.repeat(8)}${'\n '.repeat(8_000)}b`,
    `(y/n)${spaces}x`,
    `${'which : '.repeat(2_000)}x\n1. a\n2. b`,
    `${'password: '.repeat(2_000)}x`,
  ]) {
    promptIn(output);
    askedIn(output);
    lastLines(output);
  }
  const { user } = process.cpuUsage(began);
  expect(user / 1e6).toBeLessThan(1);
});
