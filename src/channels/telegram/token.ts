import { open, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { execa } from 'execa';
import type { TelegramConfig } from '../../domain/people/channel.ts';
import { ChannelError } from '../port.ts';

const COMMAND_MS = 20_000;
const MOST_BYTES = 4_096;
/** As @BotFather gives it. */
const SHAPE = /^\d+:[\w-]{20,}$/;

/** The bot token, by file or command. @throws ChannelError: one sentence that names the field, and never has the secret */
export async function readToken(
  { file, command }: TelegramConfig['token'],
  { home, env }: { home: string; env: NodeJS.ProcessEnv },
): Promise<string> {
  const field = `channels.telegram.token.${file === undefined ? 'command' : 'file'}`;
  const text =
    file === undefined
      ? await printed(command ?? [], { field, home, env })
      : await written(resolve(home, file.replace(/^~(?=\/|$)/, env['HOME'] ?? homedir())), field);
  if (!SHAPE.test(text.trim())) throw wrong(`${field} must give a token as @BotFather writes it, such as 123456:ABC…`);
  return text.trim();
}

async function written(path: string, field: string): Promise<string> {
  // Neither a folder nor a pipe, which would be waited for.
  if (!(await stat(path).catch(() => undefined))?.isFile())
    throw wrong(`${field} must be a file that can be read: ${path} is none`);
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => error.code ?? 'an error');
  if (typeof handle === 'string') throw wrong(`${field} must be a file that can be read: ${path} gave ${handle}`);
  await using _ = { [Symbol.asyncDispose]: () => handle.close() };
  const { mode, size } = await handle.stat();
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  if ((mode & 0o077) !== 0)
    throw wrong(`${field} must be for its owner alone: ${path} is ${octal}, chmod 600 mends it`);
  if (size > MOST_BYTES) throw wrong(`${field} must have the token and nothing else: ${path} has ${size} bytes`);
  return await handle.readFile('utf8');
}

async function printed(
  [program = '', ...args]: readonly string[],
  { field, home, env }: { field: string; home: string; env: NodeJS.ProcessEnv },
): Promise<string> {
  const { stdout, failed } = await execa(program, args, {
    ...{ env, extendEnv: false, reject: false, stdin: 'ignore', stderr: 'ignore' },
    ...{ timeout: COMMAND_MS, maxBuffer: MOST_BYTES, cwd: home },
  });
  if (failed) throw wrong(`${field} must print the token and end well within ${COMMAND_MS / 1_000} s`);
  return stdout;
}

const wrong = (message: string): ChannelError => new ChannelError({ kind: 'token' }, message);
