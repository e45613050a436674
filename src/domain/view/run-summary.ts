import type { RunView, TaskView } from './task-view.ts';

/** A run that has ended, as one line of a search attribute: so that statistics and budgets need one list query and no history. */
export interface RunLine {
  n: number;
  /** ISO, as the next. */
  startedAt: string;
  endedAt: string;
  coder: string;
  /** Empty: unknown. */
  model: string;
  /** `accepted`, or the reason why not. */
  outcome: string;
  tokens: number;
  costUsd: number;
  /** The cost of some of the tokens is unknown. */
  unpriced: boolean;
  seconds: number;
}

/** A server takes 2,048 bytes of one attribute, as JSON. */
const LINES = 15;
const PART = 60;
const BYTES = 2_000;

/** What a task that is done came to, as one more line. */
export interface ResultLine {
  branch: string | null;
  commit: string | null;
  /** The kinds of receipts that showed it, `acceptance` also beside others; null where there is no verdict. */
  shownBy: string[] | null;
  /** That it used, the accepted one included. */
  attempts: number;
}

/** `1|2026-01-01T00:00:00.500Z|codex|o3|receipts-rejected|12345|0.12+?|61.2` */
export function runLine(run: RunView): string {
  const { n, endedAt, startedAt, coder, model, reason, usage } = run;
  const ended = endedAt ?? startedAt;
  const cost = `${Number(usage.costUsd.toPrecision(6))}${usage.unpricedTokens ? '+?' : ''}`;
  const seconds = (Date.parse(ended) - Date.parse(startedAt)) / 1_000;
  const parts = [
    n,
    ended,
    coder,
    model ?? '',
    reason ?? 'accepted',
    usage.inputTokens + usage.outputTokens,
    cost,
    seconds,
  ];
  return parts
    .map((part) =>
      String(part)
        .replace(/[|\s]+/g, ' ')
        .slice(0, PART),
    )
    .join('|');
}

/** The newest runs that have ended, and behind them what the task came to. */
export function taskLines({
  runs,
  ...task
}: Pick<TaskView, 'runs' | 'state' | keyof Parameters<typeof resultLine>[0]>): string[] {
  const ended = runs.filter(({ endedAt }) => endedAt !== null).slice(-LINES);
  const lines = [...ended.map(runLine), ...(task.state === 'done' ? [resultLine(task)] : [])];
  while (bytesOf(JSON.stringify(lines)) > BYTES) lines.shift();
  return lines;
}

/** At most. */
const bytesOf = (text: string): number => text.length + 2 * text.replace(/[ -~]/g, '').length;

const RESULT = 'result';
/** `result|fleet/x|0f3a…|git,acceptance|1` */
function resultLine(task: Pick<TaskView, 'branch' | 'commit' | 'verdict' | 'attempts'>): string {
  const { branch, commit, verdict, attempts } = task;
  const kinds = new Set(verdict?.doneBy);
  if (verdict?.acceptance) kinds.add('acceptance');
  return [RESULT, branch ?? '', commit ?? '', verdict && ([...kinds].join(',') || NOBODY), attempts.used].join('|');
}
const NOBODY = '-';

export function readResultLine(line: string): ResultLine | undefined {
  const [kind, branch, commit, shown, attempts] = line.split('|');
  if (kind !== RESULT || shown === undefined) return undefined;
  return {
    branch: branch || null,
    commit: commit || null,
    shownBy: shown ? shown.split(',').filter((one) => one !== NOBODY) : null,
    attempts: Number(attempts),
  };
}

/** Undefined for what no version of ours wrote. */
export function readRunLine(line: string): RunLine | undefined {
  const [n, endedAt, coder, model, outcome, tokens, cost = '', seconds] = line.split('|');
  if (!coder || !endedAt || !outcome || model === undefined || seconds === undefined) return undefined;
  const startedAt = new Date(Date.parse(endedAt) - 1_000 * Number(seconds));
  if (Number.isNaN(startedAt.getTime())) return undefined;
  return {
    ...{ n: Number(n), startedAt: startedAt.toISOString(), endedAt, coder, model, outcome },
    ...{ tokens: Number(tokens), seconds: Number(seconds) },
    costUsd: Number(cost.replace('+?', '')),
    unpriced: cost.endsWith('+?'),
  };
}
