import type { Fleet } from '../../client.ts';
import { FleetError, wrongState } from '../../domain/error.ts';
import { sha256 } from '../../adapters/sha256.ts';
import { ServerUnreachable } from '../../adapters/temporal/unreachable.ts';
import type { Channel, Incoming } from '../port.ts';
import { COMMANDS, HELP, type Said } from './commands.ts';
import { askId } from './messages.ts';
import type { People } from './people.ts';
import { buttonOf, messageAt, want, type Ask, type ChannelState, type Deed } from './state.ts';
import { clip, line } from './text.ts';

/** What everything that hears has at hand. */
export interface Ears {
  channel: Channel;
  fleet: Fleet;
  people: People;
  /** Whose the state is: ids of tasks are made of it. */
  identity: string;
}

/** What became of something that was said: changes of the state, and a word for whoever pressed a button. */
export interface Heard {
  change?: (state: ChannelState) => void;
  acknowledge?: { press: string; text: string };
}

type Message = Extract<Incoming, { kind: 'message' }>;

/**
 * Does what somebody said; the same again does nothing more. @throws where the fleet's server is away: to be
 * called again
 */
export async function hear(event: Incoming, ears: Ears, state: Readonly<ChannelState>): Promise<Heard> {
  const name = ears.people.users.get(event.user);
  if (name === undefined) return stranger(event, ears);
  const by = `${name}@${ears.channel.name}`;
  try {
    return event.kind === 'press' ? await pressed(event, { ears, state, by }) : await said(event, { ears, state, by });
  } catch (error) {
    if (!(error instanceof FleetError) || error instanceof ServerUnreachable) throw error;
    const hint = error.hint ?? (error.code === 'unavailable' ? 'send it again in a while' : undefined);
    const text = [error.message, hint].filter(Boolean).join('; ');
    return event.kind === 'press' ? { acknowledge: { press: event.press, text } } : answer(event, text, ears);
  }
}

function stranger({ user, shown }: Incoming, { people }: Ears): Heard {
  return {
    change: (state) => {
      if (state.strangers.includes(user)) return;
      state.strangers.push(user);
      const text = `${line(shown, 60)} (user id ${user}) wrote to this bot and is not heard: whoever is to be heard stands in channels.telegram.users.`;
      want(state, `stranger/${user}`, { chat: people.ownerChat, text, closed: true });
    },
  };
}

interface Given {
  ears: Ears;
  state: Readonly<ChannelState>;
  by: string;
}

async function said(event: Message, { ears, state, by }: Given): Promise<Heard> {
  const { people } = ears;
  if (!event.private && !people.chats.has(event.chat))
    return answer(
      event,
      `This chat (id ${event.chat}) is not listed in channels.telegram.chats: nothing is done here.`,
      ears,
    );
  const under = event.replyTo === undefined ? undefined : messageAt(state, event.chat, event.replyTo);
  const [, name, rest = ''] = /^\/(\w+)\s*([^]*)$/.exec(event.text.trim()) ?? [];
  if (name !== undefined) {
    const run = COMMANDS[name.toLowerCase()];
    if (!run) return answer(event, `There is no command /${line(name, 40)}.\n${HELP}`, ears);
    const given: Said = { text: rest.trim(), event, by, key: taskKey(event, ears), ...ears };
    const { reply, follow } = await run(given);
    return {
      change: (now) => {
        if (reply !== undefined) replyWith(now, { event, text: reply, longest: ears.channel.longest });
        if (follow === undefined || now.tasks[follow]) return;
        now.tasks[follow] = { chat: event.chat, open: true, at: Date.now() };
        const text = `${line(rest)}\nqueued\n${follow}`;
        want(now, `task/${follow}`, { chat: event.chat, text, replyTo: event.id });
      },
    };
  }
  const about = under?.[1].about ?? (under && openAsk(state, under[0]));
  if (about) return inWords(event, about, { ears, by });
  // In a group people talk to each other.
  if (!event.private) return {};
  return answer(event, under ? 'Nothing is asked there any more: /inbox shows what waits.' : HELP, ears);
}

/** Two letters apart are two tasks; the same message again is the same one. */
const taskKey = ({ chat, id }: Message, { identity, channel }: Ears): string =>
  sha256(`${channel.name}/${identity}/${chat}/${id}`).slice(0, 8);

/** What the task of that message asks now. */
function openAsk({ messages }: Readonly<ChannelState>, key: string): Ask | undefined {
  const task = /^task\/(.+)$/.exec(key)?.[1];
  return Object.values(messages).find(({ about, closed }) => about?.task === task && !closed)?.about;
}

async function inWords(event: Message, about: Ask, { ears, by }: Omit<Given, 'state'>): Promise<Heard> {
  const words = event.text.trim();
  if (event.files.length > 0)
    return answer(event, 'A file is no answer: write it in words, or send the file with /fleet as a new task.', ears);
  // The message that asked shows it.
  if (about.kind === 'question') {
    await act(ears.fleet, { about, deed: { act: 'answer', value: words }, by, why: '' });
    return {};
  }
  const [, word = '', why = ''] = /^(\p{L}+)\s*[,:;.!-]*\s*([^]*)$/u.exec(words) ?? [];
  const deed = WORDS[about.kind][word.toLowerCase()];
  if (!deed) return answer(event, HOW[about.kind], ears);
  if (deed === 'reject' && !why) return answer(event, 'Say why, as its agent is told: no, and the reason.', ears);
  await act(ears.fleet, { about, deed: { act: deed }, by, why });
  return {};
}

const WORDS: Record<'approval' | 'parked', Record<string, Deed['act']>> = {
  approval: { yes: 'approve', approve: 'approve', no: 'reject', reject: 'reject' },
  parked: { retry: 'retry', again: 'retry', 'give-up': 'give-up', giveup: 'give-up' },
};
const HOW = {
  approval: 'Reply yes, or no and why.',
  parked: 'Reply retry or giveup, or use fleet task at a terminal.',
};

async function pressed(event: Extract<Incoming, { kind: 'press' }>, { ears, state, by }: Given): Promise<Heard> {
  const { press, chat } = event;
  const found = buttonOf(state, event.token);
  const about = found?.message.chat === chat ? found.message.about : undefined;
  if (!found || !about)
    return { acknowledge: { press, text: 'This button is too old, or none of mine: /inbox shows what waits.' } };
  const { deed } = found;
  await act(ears.fleet, { about, deed, by, why: deed.act === 'reject' ? `rejected by ${by}` : '' });
  return { acknowledge: { press, text: clip(DONE[deed.act] + (deed.value ?? ''), 200) } };
}

const DONE: Record<Deed['act'], string> = {
  ...{ answer: 'You answered: ', approve: 'You approved it.', reject: 'You said no.' },
  ...{ retry: 'It is tried again.', 'give-up': 'It is given up.' },
};

/** The same client functions as the command line's. @throws FleetError (2) where somebody was faster */
async function act(
  fleet: Fleet,
  { about, deed, by, why }: { about: Ask; deed: Deed; by: string; why: string },
): Promise<void> {
  const { task, ask } = about;
  try {
    if (deed.act === 'answer') return await fleet.answer(task, { answer: deed.value ?? '', by, question: ask });
    if (deed.act === 'approve') return await fleet.approve(task, { by, why, approval: ask });
    if (deed.act === 'reject') return await fleet.reject(task, { by, why, approval: ask });
    const now = askId(await fleet.view(task));
    if (now !== ask) throw wrongState(`task ${task}: this was decided, or asked for something else`);
    return await (deed.act === 'retry' ? fleet.retry(task, why, by) : fleet.giveUp(task, why, by));
  } catch (error) {
    // Heard before this process died: what it was told then is what it is told now.
    if (error instanceof FleetError && (await wasMine(fleet, { about, deed, by }))) return;
    throw error;
  }
}

async function wasMine(fleet: Fleet, said: { about: Ask; deed: Deed; by: string }): Promise<boolean> {
  const { about, deed, by } = said;
  const { answers = [], approvals = [], decision } = await fleet.view(about.task);
  if (deed.act === 'answer')
    return answers.some((one) => one.question === about.ask && one.by === by && one.answer === deed.value);
  if (deed.act === 'retry' || deed.act === 'give-up') return decision?.by === by && decision.action === deed.act;
  const one = approvals[Number(about.ask.slice(1)) - 1];
  return one?.by === by && one.approved === (deed.act === 'approve');
}

const answer = (event: Message, text: string, { channel }: Ears): Heard => ({
  change: (state) => replyWith(state, { event, text, longest: channel.longest }),
});

function replyWith(
  state: ChannelState,
  { event, text, longest }: { event: Message; text: string; longest: number },
): void {
  const { chat, id } = event;
  want(state, `reply/${chat}/${id}`, { chat, text: clip(text, longest), replyTo: id, closed: true });
}
