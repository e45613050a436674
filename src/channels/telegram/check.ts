import type { ChannelsConfig } from '../../domain/people/channel.ts';
import { ChannelError } from '../port.ts';
import { TelegramChannel } from './channel.ts';
import { readToken } from './token.ts';

/** The bot of this configuration. */
export function openTelegram(
  { token, api }: NonNullable<ChannelsConfig['telegram']>,
  at: { home: string; env: NodeJS.ProcessEnv },
): TelegramChannel {
  return new TelegramChannel({ api, token: () => readToken(token, at) });
}

/** Asks the Bot API who the bot is: a real call. `says`: one sentence, where it is wrong with what mends it. */
export async function checkTelegram(
  config: NonNullable<ChannelsConfig['telegram']>,
  at: { home: string; env: NodeJS.ProcessEnv },
): Promise<{ is: 'ok' | 'wrong'; says: string }> {
  const bot = openTelegram(config, at);
  try {
    await bot.identify();
  } catch (error) {
    if (!(error instanceof ChannelError)) throw error;
    const away = error.trouble.kind === 'away';
    return {
      is: 'wrong',
      says: away ? `${error.message} at ${config.api}: look at the network, or channels.telegram.api` : error.message,
    };
  }
  const users = Object.keys(config.users);
  return {
    is: 'ok',
    says: `the bot @${bot.username} answers; heard are ${users.join(', ')}; fleet channel run serves it`,
  };
}
