import { GrammyError, HttpError } from 'grammy';
import { ChannelError } from '../port.ts';

const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH'];
const UNAUTHORIZED = 401;
const NOT_FOUND = 404;
const CONFLICT = 409;
const TOO_MANY = 429;
const SERVER_ERROR = 500;

/** By the Bot API's codes. 404 is its answer to a token that has no bot's form. */
export function troubleOf(error: unknown): ChannelError {
  if (error instanceof ChannelError) return error;
  if (!(error instanceof GrammyError)) {
    const code = error instanceof HttpError ? (error.error as NodeJS.ErrnoException).code : undefined;
    const unsent = code !== undefined && NOT_CONNECTED.includes(code);
    return new ChannelError({ kind: 'away', ...(unsent ? { unsent } : {}) }, 'the Bot API does not answer');
  }
  const { error_code: code, description, parameters } = error;
  if (code === UNAUTHORIZED || code === NOT_FOUND)
    return new ChannelError(
      { kind: 'token' },
      'Telegram refuses the bot token: put a new one from @BotFather where channels.telegram.token points',
    );
  if (code === CONFLICT)
    return new ChannelError(
      { kind: 'taken' },
      "another process reads this bot's messages, or a webhook is set: stop that one, each bot is for one fleet channel run",
    );
  if (code === TOO_MANY)
    return new ChannelError(
      { kind: 'slow-down', afterMs: 1_000 * (parameters.retry_after ?? 1) },
      'Telegram asks for a pause',
    );
  if (code >= SERVER_ERROR) return new ChannelError({ kind: 'away' }, `the Bot API answers ${code}`);
  const moved = parameters.migrate_to_chat_id;
  const why =
    moved === undefined ? description : `the group's id is ${moved} now: change it in channels.telegram.chats`;
  return new ChannelError({ kind: 'refused' }, `Telegram refuses it: ${why}`);
}
