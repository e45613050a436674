import { z } from 'zod';
import { name, taskInput } from '../task/schema.ts';

/** Where people talk to the fleet besides the command line: `channels` of config.yaml. */

const text = z.string().min(1, { error: 'must not be empty' });
/** Groups have negative ids. */
const chatId = z.int({ error: 'must be the whole number that is the id of a chat' });
const userId = z.int({ error: 'must be the whole number that is the id of a user' }).positive({
  error: 'must be the whole number that is the id of a user',
});

/** What a task of an alias has besides its objective: fields of a task, or only the repository. */
const repository = z.union(
  [text, taskInput.omit({ objective: true, parent: true, proposed: true, title: true }).partial()],
  { error: 'must be a repository, or fields of a task with repo' },
);

const telegram = z.strictObject({
  token: z.strictObject({
    /** For its owner alone to read. */
    file: text.optional(),
    /** Prints it. */
    command: z.array(text).min(1, { error: 'must have at least one part' }).optional(),
  }),
  api: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).default('https://api.telegram.org'),
  /** By the name that others see: nobody else is heard. */
  users: z.record(name, userId),
  /** Hears of strangers and of trouble, and of what waits for a person where no chat asked for it; default: the first user. */
  owner: name.optional(),
  /** Groups that may be used, with the repository of tasks that name none. A listed user's own chat needs no entry. */
  chats: z
    .array(z.strictObject({ id: chatId, repo: name.optional() }))
    .max(100)
    .default([]),
  /** An alias: for tasks that name none, in chats that have none. */
  repo: name.optional(),
});
export type TelegramConfig = z.output<typeof telegram>;

export const channels = z
  .strictObject({
    /** Repositories by the alias that people type: `@shop`. */
    repos: z.record(name, repository).default({}),
    telegram: telegram.optional(),
  })
  .prefault({});
export type ChannelsConfig = z.output<typeof channels>;

/** What is wrong with them beside each other. */
export function channelFaults({ repos, telegram: bot }: ChannelsConfig): [path: PropertyKey[], message: string][] {
  const faults: [PropertyKey[], string][] = [];
  const known = Object.keys(repos);
  const isKnown = (alias: string | undefined) => alias === undefined || known.includes(alias);
  const one =
    known.length > 0 ? `must be one of channels.repos: ${known.join(', ')}` : 'needs an entry in channels.repos';
  for (const [alias, value] of Object.entries(repos))
    if (typeof value === 'object' && value.repo === undefined)
      faults.push([['channels', 'repos', alias], 'must have repo']);
  if (!bot) return faults;
  const at = ['channels', 'telegram'];
  if ((bot.token.file === undefined) === (bot.token.command === undefined))
    faults.push([[...at, 'token'], 'must have either file or command']);
  const users = Object.keys(bot.users);
  if (users.length === 0) faults.push([[...at, 'users'], 'must name at least one user: nobody else is heard']);
  if (bot.owner !== undefined && !users.includes(bot.owner))
    faults.push([[...at, 'owner'], `must be one of channels.telegram.users: ${users.join(', ')}`]);
  if (!isKnown(bot.repo)) faults.push([[...at, 'repo'], one]);
  for (const [index, chat] of bot.chats.entries())
    if (!isKnown(chat.repo)) faults.push([[...at, 'chats', index, 'repo'], one]);
  return faults;
}

/** What a channel's process knows of one identity there, and its lock. `home`: `$FLEET_HOME` */
export const channelPaths = (home: string, { name: channel, identity }: { name: string; identity: string }) => ({
  state: `${home}/channels/${channel}-${identity}.json`,
  lock: `${home}/channels/${channel}-${identity}.lock`,
});
