import type { ListedTask } from '../../client.ts';
import { costText } from '../../domain/agent/cost.ts';
import { formatDuration } from '../../domain/values/duration.ts';
import { shownBy } from '../../domain/evidence/done-by.ts';
import type { ReceiptKind } from '../../domain/evidence/receipt.ts';
import { contextText, elapsed } from './report.ts';
import { table } from './table.ts';
import { oneLine, paintState, shortNumber, type Paint } from './text.ts';

/** Workers give a sign every few seconds. */
const SILENT_MS = 20_000;

const HEAD = [
  'id',
  'title',
  'state',
  'coder',
  'worker',
  'elapsed',
  'last event',
  'tokens',
  'context',
  'cost',
  'reason',
];

/** Tasks of a list as people read them. */
export function taskTable(tasks: readonly ListedTask[], { paint, nowMs }: { paint: Paint; nowMs: number }): string {
  const rows = tasks.map((task) => {
    const { id, title, state, coder, model, lastWorker, live, reason } = task;
    const used = spent(task);
    return [
      oneLine(id, 64),
      oneLine(title, 36),
      paintState(paint, state),
      oneLine([coder, model].filter(Boolean).join('/'), 28),
      oneLine(lastWorker ?? '', 20),
      elapsed(task, nowMs),
      live?.lastEventAt ? `${formatDuration(nowMs - Date.parse(live.lastEventAt))} ago` : '',
      used.tokens > 0 ? shortNumber(used.tokens) : '',
      live?.usage ? contextText(live.usage) : '',
      costText(used),
      oneLine([reason, said(task, nowMs)].filter(Boolean).join(': '), 60),
    ];
  });
  return table(HEAD, rows);
}

/** By the runs that have ended, and the live one. */
function spent({ tokens, costUsd, unpriced, state, live }: ListedTask) {
  const now = state === 'running' ? live?.usage : undefined;
  return {
    tokens: tokens + (now ? now.inputTokens + now.outputTokens : 0),
    costUsd: costUsd + (now?.costUsd ?? 0),
    unpricedTokens: (unpriced ? 1 : 0) + (now?.unpricedTokens ?? 0),
  };
}

function said(task: ListedTask, nowMs: number): string | undefined {
  const { state, message, worker, live } = task;
  if (state === 'done') return shown(task);
  const silentMs = live?.at === undefined ? 0 : nowMs - Date.parse(live.at);
  if (worker !== null && silentMs > SILENT_MS)
    return `${worker} gave its last sign ${formatDuration(silentMs)} ago, see fleet explain`;
  return message ?? live?.doing;
}

/** How a result without acceptance commands was shown. */
function shown({ result }: ListedTask): string {
  const doneBy = result?.shownBy as ReceiptKind[] | null | undefined;
  return doneBy && !doneBy.includes('acceptance') ? `(${shownBy({ doneBy })})` : '';
}
