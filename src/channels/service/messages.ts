import { createHmac } from 'node:crypto';
import type { TaskReport } from '../../client.ts';
import { inboxItem, WAITING, wordLines } from '../../domain/list/inbox.ts';
import type { TaskView } from '../../domain/view/task-view.ts';
import type { Ask, Deed, End, KeptButton } from './state.ts';
import { clip, line, plain } from './text.ts';

/** How tasks, questions and ends are written in a chat. */

const LABEL = 60;
const BODY = 2_500;

export interface AskMessage {
  key: string;
  about: Ask;
  text: string;
  buttons: KeptButton[];
}

/** What a task asks a person; undefined where it asks nothing. `secret`: tokens of buttons are made of it. */
export function askMessage(report: TaskReport, secret: string): AskMessage | undefined {
  const item = inboxItem(report);
  if (!item) return undefined;
  const about = { task: report.id, kind: item.kind, ask: askId(report) };
  const key = askKey(about);
  const button = (label: string, deed: Deed): KeptButton => ({
    ...{ label: line(label, LABEL), deed },
    token: createHmac('sha256', secret)
      .update(JSON.stringify([key, deed]))
      .digest('base64url')
      .slice(0, 24),
  });
  const word = item.word ? wordLines(item.word).map((text) => line(text, 400)) : [];
  const head = `${report.id}: ${line(report.title, 120)}`;
  const body = clip(plain(item.text), BODY);
  if (item.kind === 'question') {
    const buttons = (item.options ?? []).map((option) => button(option, { act: 'answer', value: option }));
    const how =
      buttons.length > 0 ? 'Tap an answer, or reply to this message in words.' : 'Reply to this message in words.';
    return { key, about, buttons, text: [head, `asks: ${body}`, ...deadline(item), how].join('\n') };
  }
  if (item.kind === 'approval') {
    const buttons = [button('Approve', { act: 'approve' }), button('Reject', { act: 'reject' })];
    const how = 'Tap, or reply: yes, or: no, and why.';
    return {
      key,
      about,
      buttons,
      text: [head, `waits for a yes: ${body}`, ...word, ...deadline(item), how].join('\n'),
    };
  }
  const buttons = [button('Retry', { act: 'retry' }), button('Give up', { act: 'give-up' })];
  return { key, about, buttons, text: [head, `is parked: ${body}`].join('\n') };
}

function deadline({
  deadline: at,
  default: otherwise,
}: {
  deadline?: string | null;
  default?: string | null;
}): string[] {
  if (!at) return [];
  const by = `${at.slice(0, 16).replace('T', ' ')} UTC`;
  return [otherwise ? `Without an answer by ${by}: ${line(otherwise)}` : `Without a yes by ${by} it is a no.`];
}

export const askKey = ({ task, ask }: Ask): string => `ask/${task}/${ask}`;

/** Which one: an answer to an earlier one is refused. */
export function askId({ question, approval, runs, since }: TaskView): string {
  return question?.id ?? approval?.id ?? `p${runs.length}-${since ? Date.parse(since).toString(36) : ''}`;
}

/** What came of it, once it is asked no more. */
export function outcomeOf(view: TaskView, { kind, ask }: Ask): string {
  const { answers = [], approvals = [], decision, state } = view;
  if (kind === 'question') {
    const said = answers.find(({ question }) => question === ask);
    if (said?.by === 'default') return `nobody answered in time, so it is: ${clip(plain(said.answer), 500)}`;
    if (said) return `${line(said.by)} answered: ${clip(plain(said.answer), 500)}`;
  }
  if (kind === 'approval') {
    const said = approvals[Number(ask.slice(1)) - 1];
    if (said)
      return `${line(said.by)} ${said.approved ? 'approved it' : `said no${said.why ? `: ${line(said.why, 500)}` : ''}`}`;
  }
  if (kind === 'parked' && decision)
    return `${line(decision.by ?? 'somebody')} said ${decision.action}${decision.why ? `: ${line(decision.why, 500)}` : ''}`;
  return `nobody has to say anything any more: it is ${state}`;
}

/** The one message of a task, as it stands. */
export function taskMessage(report: TaskReport): string {
  const { id, title, state, coder, worker, attempts, branch, pull, merged, message } = report;
  const works = worker && !report.endedAt ? `${coder ?? 'an agent'} on ${worker}` : '';
  const tried = attempts.used > 0 && attempts.max > 1 ? `attempt ${attempts.used} of ${attempts.max}` : '';
  return [
    line(title, 200),
    [state, works, tried].filter(Boolean).join(', '),
    // What it asks has a message of its own.
    message && !WAITING.includes(state) && clip(plain(message), 800),
    branch && `branch ${branch}`,
    pull && `${pull.url} (${pull.state}, checks ${pull.checks})`,
    merged && `merged into ${merged.into}`,
    id,
  ]
    .filter(Boolean)
    .join('\n');
}

export function endLine({ id, title, state, message }: TaskReport): string {
  const why = state !== 'done' && message ? `: ${line(message, 300)}` : '';
  return `${state}: ${line(title, 120)} (${id})${why}`;
}

export function digest(ends: readonly End[], longest: number): string {
  const counts = new Map<string, number>();
  for (const { line: text } of ends) {
    const state = text.split(':', 1)[0]!;
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  const sums = [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
  return clip([`${ends.length} tasks ended: ${sums}`, ...ends.map((end) => line(end.line, 150))].join('\n'), longest);
}
