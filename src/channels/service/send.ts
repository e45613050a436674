import { failpoint } from '../../adapters/failpoint.ts';
import { ChannelError, type Channel, type Post } from '../port.ts';
import { digestOf, type ChannelState, type Kept, type StateFile } from './state.ts';
import { clip } from './text.ts';

/** Nobody can know whether a message that was begun has arrived, and it must not get lost. */
const AGAIN = '\n(This may be here twice: the connection broke while it was sent.)';

/** Messages that are not yet as they should be, the oldest first. */
export function dueOf(state: Readonly<ChannelState>): [key: string, message: Kept][] {
  return Object.entries(state.messages)
    .filter(([, message]) => message.refused === undefined && message.sent !== digestOf(message))
    .sort(([, one], [, other]) => one.at - other.at);
}

/**
 * Brings the messages to what they should be, one by one; what is begun is on the disk before it is sent. @throws ChannelError where
 * none can be sent now; a message that the channel refuses is noted, and told by `say`
 */
export async function sendDue(file: StateFile, channel: Channel, say: (sentence: string) => void): Promise<void> {
  for (const [key] of dueOf(file.state)) {
    const message = file.state.messages[key];
    if (!message || message.sent === digestOf(message)) continue;
    try {
      await (message.id === null ? post(file, channel, key) : edit(file, channel, { key, message, id: message.id }));
    } catch (error) {
      const trouble = error instanceof ChannelError ? error.trouble : undefined;
      const arrived = trouble?.kind === 'away' && !trouble.unsent;
      if (trouble && !arrived) file.change(({ messages }) => void delete messages[key]?.begun);
      if (!(error instanceof ChannelError) || trouble?.kind !== 'refused') throw error;
      say(`${channel.name} did not take a message for chat ${message.chat}: ${error.message}`);
      file.change(({ messages }) => void Object.assign(messages[key] ?? {}, { refused: error.message }));
    }
  }
}

async function post(file: StateFile, channel: Channel, key: string): Promise<void> {
  const message = file.state.messages[key]!;
  const again = message.begun === true;
  file.change(({ messages }) => void (messages[key]!.begun = true));
  failpoint('channel.begun');
  const sent = digestOf(message);
  const { text } = message;
  const shown = again ? { ...message, text: clip(text, channel.longest - AGAIN.length) + AGAIN } : message;
  const id = await channel.post(postOf(file.state, shown));
  failpoint('channel.posted');
  file.change(({ messages }) => {
    const now = messages[key];
    if (!now) return;
    Object.assign(now, { id, sent });
    delete now.begun;
  });
}

async function edit(
  file: StateFile,
  channel: Channel,
  { key, message, id }: { key: string; message: Kept; id: string },
): Promise<void> {
  const sent = digestOf(message);
  const done = (): void => file.change(({ messages }) => void (messages[key] && (messages[key].sent = sent)));
  try {
    await channel.edit(id, postOf(file.state, message));
  } catch (error) {
    // Somebody deleted it, it is too old, or it is so already: there is nothing to mend.
    if (!(error instanceof ChannelError) || error.trouble.kind !== 'refused') throw error;
  }
  done();
}

function postOf(state: Readonly<ChannelState>, { chat, text, buttons = [], replyTo, replyToKey }: Kept): Post {
  const under = replyTo ?? (replyToKey === undefined ? undefined : state.messages[replyToKey]?.id);
  return {
    ...{ chat, text },
    ...(buttons.length > 0 ? { buttons: buttons.map(({ label, token }) => ({ label, token })) } : {}),
    ...(under ? { replyTo: under } : {}),
  };
}

/** Somebody spoke there: what was refused may be taken now. */
export function takeAgain(state: ChannelState, chat: string): void {
  for (const message of Object.values(state.messages)) if (message.chat === chat) delete message.refused;
}
