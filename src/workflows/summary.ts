import { costText } from '../domain/cost.ts';
import { formatDuration } from '../domain/duration.ts';
import { rescueRef } from '../domain/names.ts';
import type { TaskView } from '../domain/run.ts';
import { seatsOf, type CredentialRecord } from '../domain/seats.ts';
import { tallySentence, type WorkerRecord } from '../domain/worker.ts';

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
  ].filter((fact) => fact[1] !== null);
  return [
    `### ${cell(view.title)}`,
    table(['', ''], facts),
    '#### Runs',
    view.runs.length
      ? table(
          ['run', 'worker', 'coder', 'took', 'started from', 'ended', 'work saved'],
          view.runs.map((run) => [
            run.runId,
            run.worker,
            run.coder,
            run.endedAt ? formatDuration(Date.parse(run.endedAt) - Date.parse(run.startedAt)) : 'live',
            run.resumedFrom ? `work of ${run.resumedFrom}` : 'base',
            run.endedAt ? (run.reason ? `${run.reason}: ${run.message ?? ''}` : 'accepted') : '',
            run.saved && view.state !== 'done' ? rescueRef(view.id, run.runId) : '',
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

/** A worker's record, likewise. What changes from beat to beat is with its pending activity. */
export function renderRecord(record: WorkerRecord): string {
  const { name, state, changedAt, debts, report } = record;
  const facts = [
    ['State', `${state} since ${changedAt}`],
    ['Machine', record.machine],
    ['Slots', record.slots],
    ['Queues', record.queues.join(', ')],
    ['Coders', record.coders.map((coder) => `${coder.name} ${coder.version}`).join(', ') || 'none'],
    ['Version', record.version],
    ['Owes the clean-up of', debts.map(({ taskId, runId }) => `${runId} of ${taskId}`).join(', ') || 'nothing'],
    ['When it last left', report && tallySentence(report)],
  ].filter((fact) => fact[1] !== null);
  return [`### Worker ${cell(name)}`, table(['', ''], facts)].join('\n\n');
}

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

const cell = (value: string | number | null): string =>
  String(value ?? '')
    .replace(/[\r\n]+/g, ' ')
    .replace(/[|<>`\\]/g, (char) => `\\${char}`)
    .slice(0, 400);
