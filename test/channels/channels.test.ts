import { writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { openTelegram } from '../../src/channels/telegram/check.ts';
import { TerminalChannel } from '../../src/channels/terminal/channel.ts';
import { readToken } from '../../src/channels/telegram/token.ts';
import { FakeTelegram } from '../helpers/fake-telegram.ts';
import { tempDir } from '../helpers/temp.ts';
import { channelConformance, type OtherEnd } from './conformance.ts';

const USER = 11;

channelConformance('telegram', async (): Promise<OtherEnd> => {
  const temp = await tempDir();
  const telegram = await FakeTelegram.start();
  await writeFile(`${temp.path}/token`, telegram.token, { mode: 0o600 });
  const config = { token: { file: 'token' }, api: telegram.url, users: { ada: USER }, chats: [] };
  const message = (id: string) => telegram.messages.find((one) => String(one.id) === id);
  return {
    channel: openTelegram(config, { home: temp.path, env: {} }),
    chat: String(USER),
    say: (text, replyTo) => void telegram.say(USER, text, replyTo === undefined ? {} : { replyTo: Number(replyTo) }),
    press: (id, label) => telegram.press(USER, message(id)!, label),
    seen: (id) => {
      const found = message(id);
      return found && { text: found.text, buttons: found.buttons.map(({ text }) => text) };
    },
    notices: () => telegram.notices,
    [Symbol.asyncDispose]: async () => {
      await telegram[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
});

channelConformance('terminal', (): Promise<OtherEnd> => {
  const printed: string[] = [];
  const channel = new TerminalChannel((text) => printed.push(text));
  const numbers = new Map<string, number>();
  const numberOf = (id: string): number => {
    if (!numbers.has(id)) numbers.set(id, numbers.size + 1);
    return numbers.get(id)!;
  };
  const last = (id: string) => printed.findLast((text) => text.startsWith(`#${numberOf(id)} `));
  const post = channel.post.bind(channel);
  channel.post = async (message) => {
    const id = await post(message);
    numberOf(id);
    return id;
  };
  return Promise.resolve({
    channel,
    chat: 'terminal',
    say: (text, replyTo) => channel.type(replyTo === undefined ? text : `#${numberOf(replyTo)} ${text}`),
    press: (id, label) => {
      const choices = last(id)!
        .split('\n')
        .filter((line) => line.startsWith('  #'));
      channel.type(`#${numberOf(id)} ${choices.findIndex((line) => line.endsWith(`  ${label}`)) + 1}`);
    },
    seen: (id) => {
      const [first = '', ...rest] = (last(id) ?? '').split('\n');
      return { text: first.replace(/^#\d+ /, ''), buttons: rest.map((line) => line.trim().split(/\s{2,}/)[1]!) };
    },
    notices: () => printed.flatMap((text) => /^\((.*)\)$/.exec(text)?.[1] ?? []),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});

test.each([
  ['is none', {}, 'channels.telegram.token.file must be a file that can be read: '],
  ['can be read by others', { mode: 0o644 }, 'chmod 600 mends it'],
  ['has no token', { text: 'hello' }, 'must give a token as @BotFather writes it'],
  ['is long', { text: 'x'.repeat(5_000) }, 'must have the token and nothing else'],
])(
  'a token file that %s is told in one sentence without what is in it',
  async (_name, { mode = 0o600, text }: { mode?: number; text?: string }, says) => {
    await using temp = await tempDir();
    if (text !== undefined || mode !== 0o600)
      await writeFile(`${temp.path}/t`, text ?? `1:${'s'.repeat(30)}`, { mode });
    const read = readToken({ file: 't' }, { home: temp.path, env: {} });
    await expect(read).rejects.toMatchObject({ trouble: { kind: 'token' } });
    await expect(read).rejects.toThrow(says);
    if (text) await expect(read).rejects.not.toThrow(text);
  },
);

test('a token that a program prints is taken; one that fails is named by its field', async () => {
  const token = `77:${'z'.repeat(30)}`;
  const at = { home: '/', env: { PATH: process.env['PATH'] } };
  expect(await readToken({ command: ['echo', token] }, at)).toBe(token);
  await expect(readToken({ command: ['false'] }, at)).rejects.toThrow('channels.telegram.token.command must print');
});
