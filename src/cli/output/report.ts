import type { FleetWorker, TaskReport } from '../../client.ts';
import { formatBytes } from '../../domain/values/bytes.ts';
import { contextFill, costText } from '../../domain/agent/cost.ts';
import { formatDuration } from '../../domain/values/duration.ts';
import { doneWhen, shownBy } from '../../domain/evidence/done-by.ts';
import { sumUsage, type Usage } from '../../domain/agent/event.ts';
import { checkCommand } from '../../domain/list/inbox.ts';
import type { Receipt } from '../../domain/evidence/receipt.ts';
import type { RunView } from '../../domain/view/task-view.ts';
import { coderText, debtSentence, keptSentences, tallySentence } from '../../domain/worker/worker.ts';
import { waitFacts } from './report-waits.ts';
import { workLines } from './report-work.ts';
import { table } from './table.ts';
import { clean, oneLine, paintState, paragraph, shortNumber, type Paint } from './text.ts';

/** A task and workers as people read them. Everything that an agent or a person wrote goes through `oneLine` or `clean`. */

export function taskDetails(report: TaskReport, { paint, nowMs }: { paint: Paint; nowMs: number }): string {
  const usage = usageOf(report);
  const facts: [string, string | null | undefined | false][] = [
    [
      'State',
      `${paintState(paint, report.state)}${report.reason ? ` (${report.reason})` : ''}${report.state === 'done' ? noAcceptance(report, ' ') : ''}`,
    ],
    ['Why', report.message],
    ['Decision', report.decision && oneLine(decisionText(report.decision), 300)],
    ['Gate', report.gate && `${report.gate.ok ? '' : 'veto: '}${report.gate.summary}`],
    ['Done by', !report.endedAt && report.doneBy && doneWhen(report.doneBy)],
    ['Coder', coderLine(report)],
    ['Worker', report.worker],
    [
      'Last event',
      report.live?.lastEvent &&
        `${report.live.lastEventAt ? `${age(report.live.lastEventAt, nowMs)} ago: ` : ''}${report.live.lastEvent}`,
    ],
    ['Doing', report.live?.doing],
    // A parked task has it beside what can be typed.
    ['Output', report.state !== 'parked' && checkCommand(report)],
    ...waitFacts(report),
    ['Elapsed', elapsed(report, nowMs)],
    ['Attempts', report.attempts.max > 0 && `${report.attempts.used} of ${report.attempts.max}`],
    ['Next try', report.retryAt],
    ['Repository', report.repo],
    ['Base', report.base],
    ['Goes on', report.continueFrom && `from ${report.continueFrom}`],
    ['Branch', report.branch && `${report.branch} at ${report.commit ?? 'unknown'}`],
    ['Pull', report.pull && `${report.pull.url} (${report.pull.state}, checks ${report.pull.checks})`],
    ['Merged', report.merged && `into ${report.merged.into} at ${report.merged.commit}`],
    ['Merge', report.merge && `place ${report.merge.place} in the merge queue of ${report.merge.into}`],
    ['Queue', report.claimQueue === report.queue ? report.queue : `${report.queue}, claimed from ${report.claimQueue}`],
    ['Priority', String(report.priority)],
    ['Labels', report.labels.join(', ')],
    ['Tokens', usageLine(usage)],
    ['Cost', costText(usage)],
  ];
  const lines = facts.flatMap(([name, value]) => (value ? `  ${name.padEnd(11)} ${shownFact(name, value)}` : []));
  const objective = clean(report.objective).trim();
  return [
    paint('bold', `${oneLine(report.id, 64)}: ${oneLine(report.title, 120)}`),
    lines.join('\n'),
    ...(objective && objective !== report.title ? [indent(objective.slice(0, 2_000))] : []),
    ...(report.runs.length ? [indent(runTable(report.runs, nowMs))] : []),
    ...(workLines(report).length ? [indent(workLines(report).join('\n'))] : []),
    ...(report.receipts.length ? [indent(receiptTable(report.receipts, paint))] : []),
  ].join('\n\n');
}

const decisionText = ({ action, why, by }: NonNullable<TaskReport['decision']>): string =>
  `${action}${by ? ` by ${by}` : ''}${why ? `: ${why}` : ''}`;

function shownFact(name: string, value: string): string {
  if (name === 'State') return value;
  // What a check said has lines of its own.
  return name === 'Why' ? paragraph(value, ' '.repeat(14)) : oneLine(value, 500);
}

function runTable(runs: readonly RunView[], nowMs: number): string {
  return table(
    ['run', 'worker', 'coder', 'took', 'ended'],
    runs.map(({ runId, worker, coder, startedAt, endedAt, reason, message }) => [
      runId,
      oneLine(worker, 30),
      oneLine(coder, 20),
      formatDuration((endedAt ? Date.parse(endedAt) : nowMs) - Date.parse(startedAt)),
      endedAt ? (reason ? oneLine(`${reason}: ${message ?? ''}`, 80) : 'accepted') : 'live',
    ]),
  );
}

export function receiptTable(receipts: readonly Receipt[], paint: Paint): string {
  return table(
    ['receipt', 'ok', 'shows'],
    receipts.map(({ kind, ok, summary }) => [
      kind,
      ok ? paint('green', 'yes') : paint('red', 'no'),
      oneLine(summary, 160),
    ]),
  );
}

export function workerTable(
  workers: readonly FleetWorker[],
  { paint, nowMs }: { paint: Paint; nowMs: number },
): string {
  return table(
    ['worker', 'machine', 'state', 'slots used', 'free', 'coders', 'queues', 'since', 'disk', 'runs', 'why'],
    workers.map((worker) => {
      const { view, state, slots } = worker;
      const since = state === 'lost' || state === 'detached' ? worker.changedAt : worker.attachedAt;
      return [
        oneLine(worker.name, 40),
        oneLine(worker.machine, 40),
        paintState(paint, state),
        view ? `${view.slots.used} of ${slots}` : '',
        view ? String(Math.max(0, slots - view.slots.used)) : '',
        oneLine(worker.coders.map(coderText).join(', '), 60) || 'none',
        oneLine(worker.queues.join(', '), 40),
        `${age(since, nowMs)} ago`,
        typeof view?.freeBytes === 'number' ? formatBytes(view.freeBytes) : '',
        oneLine((view?.runs ?? []).map(({ taskId }) => taskId).join(', '), 60),
        oneLine(whyOf(worker), 160),
      ];
    }),
  );
}

function whyOf({ debts, state, report, view }: FleetWorker): string {
  const owes = debts.length > 0 ? [debtSentence(debts)] : [];
  const left = state === 'detached' && report ? [...keptSentences(report), tallySentence(report)] : [];
  // That all seats are taken is how it should be.
  const closed = (view?.closed ?? []).filter(({ full }) => !full).map(({ coder, why }) => `no ${coder}: ${why}`);
  const held = view?.holds ?? [];
  const over = (view?.budgets ?? []).flatMap(({ said }) => (held.some((hold) => hold.includes(said)) ? [] : said));
  return [...owes, ...left, ...held, ...over, ...closed].join('; ');
}

/** The ended runs' tokens and those of the live one. */
export function usageOf({ usage, live, state }: TaskReport): Usage {
  return live?.usage && state === 'running' ? sumUsage(usage, live.usage) : usage;
}

export function tokens({ inputTokens, outputTokens }: Pick<Usage, 'inputTokens' | 'outputTokens'>): string {
  return inputTokens + outputTokens > 0 ? shortNumber(inputTokens + outputTokens) : '';
}

/** `codex / o3 by routes[1] (big)` */
function coderLine({ redirect, coder, model, runs, triaged }: TaskReport): string {
  const said = redirect ?? runs.at(-1) ?? { coder, model };
  const what = [said.coder, redirect ? said.model : model].filter(Boolean).join(' / ');
  const rule = 'rule' in said && said.rule ? ` by ${said.rule}` : '';
  return `${what}${rule}${triaged ? `, class ${triaged.class} by ${triaged.by}` : ''}`;
}

/** `12.3k: 12.0k in (8.0k from the cache, 1.0k into it), 300 out (100 of it reasoning), context 9.0k (5 %)` */
function usageLine(usage: Usage): string {
  if (!tokens(usage)) return '';
  const { inputTokens, outputTokens, cachedTokens, writtenTokens = 0, reasoningTokens = 0 } = usage;
  const cache = [
    cachedTokens ? `${shortNumber(cachedTokens)} from the cache` : '',
    writtenTokens ? `${shortNumber(writtenTokens)} into it` : '',
  ].filter(Boolean);
  const into = `${shortNumber(inputTokens)} in${cache.length ? ` (${cache.join(', ')})` : ''}`;
  const out = `${shortNumber(outputTokens)} out${reasoningTokens ? ` (${shortNumber(reasoningTokens)} of it reasoning)` : ''}`;
  const context = contextText(usage);
  return `${tokens(usage)}: ${into}, ${out}${context ? `, context ${context}` : ''}`;
}

/** `9.0k (5 %)` */
export function contextText(usage: Usage): string {
  const fill = contextFill(usage);
  return usage.contextTokens ? `${shortNumber(usage.contextTokens)}${fill === undefined ? '' : ` (${fill} %)`}` : '';
}

export function elapsed({ createdAt, endedAt }: Pick<TaskReport, 'createdAt' | 'endedAt'>, nowMs: number): string {
  return formatDuration((endedAt ? Date.parse(endedAt) : nowMs) - Date.parse(createdAt));
}

export const noAcceptance = ({ verdict }: TaskReport, before = ''): string =>
  verdict?.accepted && !verdict.acceptance ? `${before}(${shownBy(verdict)})` : '';

const age = (iso: string, nowMs: number): string => formatDuration(nowMs - Date.parse(iso));
const indent = (text: string): string => text.replace(/^(?=.)/gm, '  ');
