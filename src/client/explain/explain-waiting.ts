import { formatDuration } from '../../domain/values/duration.ts';
import { inboxItem } from '../../domain/list/inbox.ts';
import type { TaskState } from '../../domain/task/state.ts';
import type { Dependency } from '../../domain/people/waiting.ts';
import type { TaskReport } from '../read/view.ts';

/** What a task waits for that is no slot: other tasks, people, agents outside the fleet, quota, a pull request. Pure. */

/** Undefined where it waits for none of these. */
export const waitingSentence = (report: TaskReport, nowMs: number): string | undefined =>
  SENTENCES[report.state]?.(report, nowMs);

const SENTENCES: Partial<Record<TaskState, (report: TaskReport, nowMs: number) => string | undefined>> = {
  queued: outsideSentence,
  running: heldSentence,
  blocked: blockedSentence,
  'awaiting-approval': approvalSentence,
  'awaiting-answer': questionSentence,
  'awaiting-quota': (report) => `it holds no slot and waits: ${report.message ?? 'for quota'}`,
  'awaiting-checks': ({ message, pull }) =>
    `it holds no slot and waits: ${message ?? 'for its pull request'}${pull ? ` (${pull.url}, checks ${pull.checks})` : ''}`,
};

function outsideSentence({ id, for: as, handedIn, message }: TaskReport): string | undefined {
  if (as === undefined || handedIn) return undefined;
  return `it is for ${as}, an agent outside the fleet, and no worker claims it${message ? ` (${message})` : ''}: fleet claim ${id} --as ${as}`;
}

function heldSentence({ outside }: TaskReport, nowMs: number): string | undefined {
  if (!outside) return undefined;
  const left = formatDuration(Date.parse(outside.until) - nowMs);
  return `${outside.as}, outside the fleet, holds it for ${left} more: then it waits for ${outside.as} again, unless the lease is renewed`;
}

function blockedSentence({ id, dependsOn = [], message }: TaskReport): string {
  const left = dependsOn.filter(({ state }) => state !== 'done');
  if (left.length === 0) return message ?? 'it waits for other tasks';
  const stuck = left.filter(isStuck);
  const how =
    stuck.length > 0
      ? `: fleet task ${id} needs --drop ${stuck.map((one) => one.id).join(',')} lets it go on without`
      : '';
  return `it waits for ${left.map(dependencyText).join('; ')}${how}`;
}

/** Nothing more comes of it by itself. */
const isStuck = ({ state }: Dependency): boolean => state === 'failed' || state === 'cancelled' || state === 'parked';

function dependencyText({ id, state, reason, message }: Dependency): string {
  const why = [reason, message].filter(Boolean).join(': ').slice(0, 200);
  const because = why ? ` (${why})` : '';
  if (state === null) return `${id}, which has not said yet how it is`;
  if (state === 'failed') return `${id}, which failed${because}`;
  if (state === 'parked') return `${id}, which is parked${because}`;
  if (state === 'cancelled') return `${id}, which was ${message === 'terminated' ? message : 'cancelled'}`;
  return `${id}, which is ${state}`;
}

function approvalSentence(report: TaskReport, nowMs: number): string {
  const { approval, id, message, partial } = report;
  const what = {
    'before-deliver': 'its result waits for a person to approve it before it is delivered',
    'before-run': 'it waits for a person to approve it before it runs',
    unknown: 'it waits for a person to approve it',
  }[approval?.stage ?? 'unknown'];
  const why = approval?.why ?? (partial ? undefined : message);
  return `${what}${sinceText(approval?.since, nowMs)}${why ? ` (${why})` : ''}: fleet task ${id} approve, or reject --why '…'`;
}

function questionSentence(report: TaskReport, nowMs: number): string {
  const item = inboxItem(report);
  const { question, id } = report;
  if (!question) return `its agent asks a person: fleet task ${id} answer '…'`;
  const { text, options, default: otherwise, deadline } = question;
  const offered = options.length > 0 ? `, offering ${options.join(', ')}` : '';
  const then = deadline
    ? `; in ${formatDuration(Date.parse(deadline) - nowMs)} ${otherwise === null ? 'it is parked' : `${otherwise} counts as the answer`}`
    : '';
  return `its agent asks (${question.id}${sinceText(question.askedAt, nowMs)}): ${text}${offered}${then}; it holds no slot meanwhile: ${item?.commands[0] ?? ''}`;
}

export const sinceText = (since: string | undefined, nowMs: number): string =>
  since ? `, for ${formatDuration(nowMs - Date.parse(since))}` : '';
