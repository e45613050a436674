import { FAILURES } from '../agent/failure.ts';
import type { RunView, TaskView } from '../view/task-view.ts';
import type { TaskState } from '../task/state.ts';
import type { AgentsWord, ApprovalStage } from '../people/waiting.ts';

/** States of a task that waits for a person. */
export const WAITING: readonly TaskState[] = ['awaiting-approval', 'awaiting-answer', 'parked'];

/** What waits for a person, with what they can type. */
export interface InboxItem {
  id: string;
  title: string;
  kind: 'approval' | 'question' | 'parked';
  /** What is asked: a question, or why a person has to look. */
  text: string;
  /** ISO; null where nothing says since when. */
  since: string | null;
  /** A question's id, what it offers, and what counts when nobody has answered by the deadline (ISO): for an approval, no. */
  question?: string;
  options?: string[];
  default?: string | null;
  deadline?: string | null;
  /** An approval's id, and when it is asked for. */
  approval?: string;
  stage?: ApprovalStage;
  /** Set for an approval without which nothing shows that the work was done: what the agent says, called and left. */
  word?: AgentsWord;
  /** Each to be typed as it is, but for what stands as `…`. */
  commands: string[];
}

type Asking = Pick<TaskView, 'id' | 'title' | 'state' | 'since' | 'reason' | 'message' | 'approval' | 'question'> & {
  runs: readonly (Pick<RunView, 'commit' | 'endedAt' | 'reason' | 'receipts'> & LoginOf)[];
};

type LoginOf = Partial<Pick<RunView, 'worker' | 'machine' | 'coder' | 'credential'>>;

/** Where the login or key of a run is renewed, and what to type then; undefined where it had none. */
export function loginAdvice({ worker, machine, coder, credential }: LoginOf = {}): string | undefined {
  if (!worker || !coder) return undefined;
  const then = credential ? `; then type fleet credentials ok ${credential}` : '';
  return `log in to ${coder} again, or change its key, on worker ${worker} (machine ${machine})${then}`;
}

/** What shows all that the last run's checks printed, or its setup; undefined where they ended well, or did not run. */
export function checkCommand({ id, runs }: Pick<Asking, 'id' | 'runs'>): string | undefined {
  const { reason, receipts = [] } = runs.at(-1) ?? {};
  if (receipts.some(({ kind, ok }) => kind === 'acceptance' && !ok)) return `fleet task ${id} check`;
  return reason === 'setup-failed' ? `fleet task ${id} check --setup` : undefined;
}

/** Undefined where the task waits for no person. */
export function inboxItem(view: Asking): InboxItem | undefined {
  const { id, title, state, reason, message, approval, question, runs } = view;
  const task = `fleet task ${id}`;
  const made = runs.some(({ commit }) => commit !== null);
  if (state === 'awaiting-approval') {
    const { stage, why = message ?? '', since = null, word, deadline } = approval ?? {};
    const what = approval?.id ? ` --approval ${approval.id}` : '';
    const text = `approval${stage ? ` ${stage}` : ''}${why ? `: ${why}` : ''}`;
    return {
      ...{ id, title, kind: 'approval', text, since },
      ...(approval ? { approval: approval.id, stage: approval.stage } : {}),
      ...(word ? { word } : {}),
      ...(deadline ? { deadline } : {}),
      commands: [
        ...(stage === 'before-deliver' && made ? [`${task} diff`] : []),
        `${task} approve${what}`,
        `${task} reject${what} --why '…'`,
      ],
    };
  }
  if (state === 'awaiting-answer') {
    const asked = question ?? { text: message ?? '', id: undefined, options: [], default: null, deadline: null };
    const { text, options, default: otherwise, deadline } = asked;
    const answer = `${task} answer${asked.id === undefined ? '' : ` --question ${asked.id}`}`;
    return {
      ...{ id, title, kind: 'question', text, since: question?.askedAt ?? null },
      ...(asked.id === undefined ? {} : { question: asked.id }),
      ...{ options, default: otherwise, deadline },
      commands: options.length > 0 ? options.map((option) => `${answer} ${quoted(option)}`) : [`${answer} '…'`],
    };
  }
  if (state !== 'parked') return undefined;
  const login = reason === 'auth' ? loginAdvice(runs.at(-1)) : undefined;
  const met = reason ? `${reason}: ${message ?? FAILURES[reason].meaning}` : (message ?? 'parked');
  const why = login ? `${met}; ${login}` : met;
  const check = checkCommand(view);
  return {
    ...{ id, title, kind: 'parked', text: why, since: view.since ?? runs.at(-1)?.endedAt ?? null },
    commands: [
      ...(check ? [check] : []),
      `${task} retry`,
      ...(made ? [`${task} accept --why '…'`] : []),
      `${task} give-up`,
    ],
  };
}

/** A line each, of what a person decides on where only an agent's word is there. Its words are shown as its claim. */
export function wordLines({ said, calls, callCount, outputs, changed, unknown }: AgentsWord): string[] {
  const more = calls && callCount > calls.length ? ` (the last ${calls.length} of ${callCount})` : '';
  return [
    `its agent says (a claim, no evidence): ${said || 'nothing'}`,
    calls === null
      ? 'its tool calls are unknown: its coder reports none'
      : calls.length === 0
        ? 'it called no tool'
        : `it called, as its own output tells${more}: ${calls.join('; ')}`,
    outputs.length > 0 && `it left: ${outputs.join(', ')}`,
    changed.length > 0 && `it changed: ${changed.join(', ')}`,
    unknown.length > 0 && `not known: ${unknown.join('; ')}`,
  ].filter((line) => line !== false);
}

/** As a shell takes it, and no flag: also once a terminal's text has lost what cannot be seen. */
const quoted = (text: string): string =>
  (/^[\p{L}\p{N}]/u.test(text) ? '' : '-- ') +
  (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);
