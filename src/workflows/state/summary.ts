import { costText } from '../../domain/agent/cost.ts';
import { formatDuration } from '../../domain/values/duration.ts';
import { doneWhen } from '../../domain/evidence/done-by.ts';
import { inboxItem, wordLines } from '../../domain/list/inbox.ts';
import { rescueRef } from '../../domain/names.ts';
import type { RunView, TaskView } from '../../domain/view/task-view.ts';
import { seatsOf, type CredentialRecord } from '../../domain/scheduling/seats.ts';
import { coderText, keptSentences, tallySentence, type Debt, type WorkerRecord } from '../../domain/worker/worker.ts';

/** The task as markdown, for the Web UI's User Metadata tab: state, runs, receipts, and how to read the log. */
export function renderSummary(view: TaskView): string {
  const facts = [
    ['State', view.state + (view.reason ? ` (${view.reason})` : '')],
    ['Why', view.message],
    ['Worker', view.worker],
    ['Coder', view.coder && view.coder + (view.model ? ` / ${view.model}` : '')],
    ['Attempts', `${view.attempts.used} of ${view.attempts.max}`],
    ['Repository', view.repo],
    ['Base', view.base],
    ['Branch', view.branch && `${view.branch} at ${view.commit ?? ''}`],
    ['Tokens', view.usage.inputTokens + view.usage.outputTokens || null],
    ['Cost', costText(view.usage) || null],
    ['Next try', view.retryAt],
    ...waitsOf(view),
  ].filter((fact) => fact[1] !== null);
  const item = inboxItem(view);
  return [
    `### ${cell(view.title)}`,
    table(['', ''], facts),
    ...(item ? [`#### Waits for a person`, item.commands.map((line) => `- ${code(line)}`).join('\n')] : []),
    '#### Runs',
    view.runs.length
      ? table(
          ['run', 'worker', 'coder', 'took', 'started from', 'ended', 'work saved'],
          view.runs.map((run) => [
            run.runId,
            run.worker,
            run.coder,
            run.endedAt ? formatDuration(Date.parse(run.endedAt) - Date.parse(run.startedAt)) : 'live',
            run.resumedFrom ? `work of ${run.resumedFrom}` : (view.continueFrom ?? 'base'),
            run.endedAt ? (run.reason ? `${run.reason}: ${run.message ?? ''}` : 'accepted') : '',
            run.saved && view.state !== 'done' ? savedAt(view, run) : '',
          ]),
        )
      : 'none yet',
    '#### Receipts of the last run',
    view.receipts.length
      ? table(
          ['receipt', 'ok', 'shows'],
          view.receipts.map((receipt) => [receipt.kind, receipt.ok ? 'yes' : 'no', receipt.summary]),
        )
      : 'none yet',
    `Read on: \`fleet task ${view.id}\`, \`fleet task ${view.id} log -f\`, \`fleet explain ${view.id}\``,
  ].join('\n\n');
}

const savedAt = ({ id }: TaskView, { runId, savedGone }: RunView): string =>
  savedGone ? `removed at ${savedGone}` : rescueRef(id, runId);

/** What it waits for beside a slot, and what people said to it. */
function waitsOf({ dependsOn = [], question, answers = [], approval, approvals = [], outside, ...view }: TaskView) {
  const needs = dependsOn.map(({ id, state }) => `${id} (${state ?? 'not heard of yet'})`).join(', ');
  const said = approvals.map(
    ({ stage, approved, by, why }) =>
      `${stage} ${approved ? 'approved' : 'rejected'} by ${by}${why ? ` (${why})` : ''}`,
  );
  return [
    ['For', view.for ?? null],
    ['Held by', outside ? `${outside.as} until ${outside.until}` : null],
    ['Handed in', view.handedIn ? `by ${view.handedIn.as}: ${view.handedIn.result}` : null],
    ['Needs', needs || null],
    ['Question', question ? `${question.id}: ${question.text}` : null],
    ['Answers', answers.map(({ question: id, answer, by }) => `${id}: ${answer} (${by})`).join('; ') || null],
    ['Waits for approval', approval ? `${approval.stage}: ${approval.why}` : null],
    ['Only its word', approval?.word ? wordLines(approval.word).join('; ') : null],
    ['Done by', view.doneBy ? doneWhen(view.doneBy) : null],
    ['Approvals', said.join('; ') || null],
  ] satisfies [string, string | null][];
}

/** A worker's record, likewise. What changes from beat to beat is with its pending activity. */
export function renderRecord(record: WorkerRecord): string {
  const { name, state, changedAt, debts, report } = record;
  const facts = [
    ['State', `${state} since ${changedAt}`],
    ['Machine', record.machine],
    ['Slots', record.slots],
    ['Queues', record.queues.join(', ')],
    ['Coders', record.coders.map(coderText).join(', ') || 'none'],
    ['Version', record.version],
    ['Owes the clean-up of', debts.map(whatIsOwed).join(', ') || 'nothing'],
    ['When it last left', report && [tallySentence(report), ...keptSentences(report)].join('; ')],
  ].filter((fact) => fact[1] !== null);
  return [`### Worker ${cell(name)}`, table(['', ''], facts)].join('\n\n');
}

const whatIsOwed = ({ taskId, runId, forget }: Debt): string =>
  forget ? `what ${taskId} left at its repository` : `${runId} of ${taskId}`;

/** A credential's record, likewise. */
export function renderCredential(record: CredentialRecord): string {
  const { name, coder, holders, seats, resting, bad, window } = record;
  const facts = [
    ['Coder', coder],
    ['Seats', `${seats.length} of ${seatsOf(record)} taken`],
    ['Taken by', seats.map(({ taskId, runId, worker }) => `${runId} of ${taskId} on ${worker}`).join(', ') || null],
    ['Workers', holders.map(({ worker }) => worker).join(', ') || 'none'],
    ['Rests until', resting && `${resting.until} (${resting.why})`],
    ['Refused', bad && `${bad.at} (${bad.why})`],
    ['Tokens', window && `${window.tokens} since ${window.since}`],
  ].filter((fact) => fact[1] !== null);
  return [`### Credential ${cell(name)}`, table(['', ''], facts)].join('\n\n');
}

function table(head: string[], rows: (string | number | null)[][]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
}

/** No markup of others: neither links nor pictures, which a browser would fetch. */
const cell = (value: string | number | null): string =>
  flat(String(value ?? ''))
    .replace(/[|<>`\\[\]!]/g, (char) => `\\${char}`)
    .slice(0, CELL_MAX);

/** As it is, also with backticks in it. */
function code(line: string): string {
  const text = flat(line).slice(0, CELL_MAX);
  const ticks = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const [fence, pad] = ticks > 0 ? ['`'.repeat(ticks + 1), ' '] : ['`', ''];
  return fence + pad + text + pad + fence;
}

const CELL_MAX = 400;
const flat = (text: string): string => text.replace(/[\r\n\u2028\u2029]+/g, ' ');
