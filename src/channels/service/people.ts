import type { ChannelsConfig } from '../../domain/people/channel.ts';

/** Who is heard in a channel, where, and what their aliases mean. */
export interface People {
  /** Names by the channel's ids. */
  users: ReadonlyMap<string, string>;
  ownerChat: string;
  /** The alias that tasks of a shared chat get where they name none. */
  chats: ReadonlyMap<string, string | undefined>;
  defaultRepo: string | undefined;
  repos: ChannelsConfig['repos'];
}

/** A user's own chat has the user's id there. */
export function peopleOf({ repos, telegram }: ChannelsConfig): People {
  const users = Object.entries(telegram?.users ?? {});
  const owner = users.find(([name]) => name === telegram?.owner) ?? users[0];
  return {
    users: new Map(users.map(([name, id]) => [String(id), name])),
    ownerChat: String(owner?.[1] ?? ''),
    chats: new Map((telegram?.chats ?? []).map(({ id, repo }) => [String(id), repo])),
    defaultRepo: telegram?.repo,
    repos,
  };
}
