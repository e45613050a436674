import type { TaskReport } from '../../client.ts';
import { isClosed } from '../../domain/scheduling/dependencies.ts';
import { askKey, askMessage, digest, endLine, outcomeOf, taskMessage } from './messages.ts';
import { want, type ChannelState } from './state.ts';
import { clip } from './text.ts';

const MINUTE_MS = 60_000;
/** So many ends a minute are told one by one. */
const ONE_BY_ONE = 10;

interface Place {
  /** Where what nobody here started is told. */
  ownerChat: string;
  longest: number;
}

/** Makes the messages what a task's report says: its own, what it asks, what came of what it asked, and its end. */
export function reflect(state: ChannelState, report: TaskReport, place: Place): void {
  const { id } = report;
  const followed = state.tasks[id];
  const chat = followed?.chat ?? place.ownerChat;
  if (followed) {
    const ended = isClosed(report.state);
    want(state, `task/${id}`, {
      ...messageOf(state, id, chat),
      text: clip(taskMessage(report), place.longest),
      ...(ended ? { closed: true } : {}),
    });
    if (ended && followed.open) state.ends.push({ chat, task: id, line: endLine(report), at: Date.now() });
    followed.open = !ended;
  }
  // Where no worker answers, what it asks is not known, nor what came of it.
  if (report.partial && !isClosed(report.state)) return;
  const asks = askMessage(report, state.secret);
  for (const [key, { about, text, closed, buttons: past = [], chat: where }] of Object.entries(state.messages)) {
    if (about?.task !== id || closed || key === asks?.key) continue;
    const outcome = `${text}\n\n${outcomeOf(report, about)}`;
    want(state, key, {
      ...state.messages[key]!,
      chat: where,
      text: clip(outcome, place.longest),
      buttons: [],
      past,
      closed: true,
    });
  }
  if (!asks || state.messages[askKey(asks.about)]?.closed) return;
  const { key, about, text, buttons } = asks;
  const reply = followed ? { replyToKey: `task/${id}` } : {};
  want(state, key, { chat, about, buttons, text: clip(text, place.longest), ...reply });
}

const messageOf = (state: ChannelState, id: string, chat: string) => {
  const { replyTo } = state.messages[`task/${id}`] ?? {};
  return { chat, ...(replyTo ? { replyTo } : {}) };
};

/** Ends that are due become messages: one each, or where more than ten come in a minute one for all of that minute. */
export function tellEnds(state: ChannelState, longest: number, nowMs = Date.now()): void {
  state.told = state.told.filter((at) => nowMs - at < MINUTE_MS);
  for (const chat of new Set(state.ends.map((end) => end.chat))) {
    const ends = state.ends.filter((end) => end.chat === chat);
    const waits = ends.some(({ late }) => late) || state.told.length + ends.length > ONE_BY_ONE;
    if (waits && nowMs - ends[0]!.at < MINUTE_MS) {
      for (const end of ends) end.late = true;
      continue;
    }
    state.ends = state.ends.filter((end) => end.chat !== chat);
    if (waits && ends.length > 1) {
      want(state, `digest/${chat}/${ends[0]!.at}`, { chat, text: digest(ends, longest), closed: true });
      continue;
    }
    for (const { task, line } of ends) {
      want(state, `end/${task}`, { chat, text: clip(line, longest), replyToKey: `task/${task}`, closed: true });
      state.told.push(nowMs);
    }
  }
}
