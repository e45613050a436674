import type { Message, Update, User } from 'grammy/types';
import type { FileOffer, Incoming } from '../port.ts';

/** What somebody said or pressed; undefined for all else. `bot`: its user name, which a command in a group may end with. */
export function incomingOf({ message, callback_query: query }: Update, bot: string | undefined): Incoming | undefined {
  if (query) {
    const { from, message: under, data, id } = query;
    if (!under || data === undefined) return undefined;
    const { chat, message_id: of } = under;
    return {
      ...{ kind: 'press', press: id, message: String(of), token: data },
      ...{ chat: String(chat.id), private: chat.type === 'private', user: String(from.id), shown: shownAs(from) },
    };
  }
  if (!message?.from || message.from.is_bot) return undefined;
  const { chat, from, message_id: id, reply_to_message: to } = message;
  const said = message.text ?? message.caption ?? '';
  const files = filesOf(message);
  // E.g. somebody joined.
  if (!said && files.length === 0) return undefined;
  return {
    ...{ kind: 'message', id: String(id), text: withoutName(said, bot), files },
    ...(to ? { replyTo: String(to.message_id) } : {}),
    ...{ chat: String(chat.id), private: chat.type === 'private', user: String(from.id), shown: shownAs(from) },
  };
}

/** `/tasks@fleet_bot` is `/tasks`; a command to another bot is none. */
function withoutName(text: string, bot: string | undefined): string {
  const [, command, name, rest = ''] = /^(\/\w+)@(\w+)([^]*)$/.exec(text) ?? [];
  if (command === undefined) return text;
  return name?.toLowerCase() === bot?.toLowerCase() ? command + rest : '';
}

const shownAs = ({ username, first_name: name }: User): string => (username ? `@${username}` : name);

/** The largest form of a photo, and whatever else has a file id. */
function filesOf({ message_id: n, photo, document, voice, audio, video }: Message): FileOffer[] {
  const largest = photo?.at(-1);
  const others = [document, audio, video].flatMap((one) => one ?? []);
  return [
    ...(largest ? [{ id: largest.file_id, name: `photo-${n}.jpg`, bytes: largest.file_size ?? 0 }] : []),
    ...(voice ? [{ id: voice.file_id, name: `voice-${n}.ogg`, bytes: voice.file_size ?? 0 }] : []),
    ...others.map((one) => ({ id: one.file_id, name: one.file_name ?? `file-${n}`, bytes: one.file_size ?? 0 })),
  ];
}
