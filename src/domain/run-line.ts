import type { RunView } from './run.ts';

/** A run that has ended, as one line of a search attribute: so that statistics and budgets need one list query and no history. */
export interface RunLine {
  n: number;
  /** ISO, whole seconds. */
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

/** Of a server's value for one attribute there is not much. */
const LINES = 15;
const PART = 60;

/** `1|2026-01-01T00:00:00Z|codex|o3|receipts-rejected|12345|0.12+?|61` */
export function runLine(run: RunView): string {
  const { n, endedAt, startedAt, coder, model, reason, usage } = run;
  const ended = endedAt ?? startedAt;
  const cost = `${Number(usage.costUsd.toPrecision(6))}${usage.unpricedTokens ? '+?' : ''}`;
  const seconds = Math.round((Date.parse(ended) - Date.parse(startedAt)) / 1_000);
  const at = `${ended.slice(0, 19)}Z`;
  const parts = [
    n,
    at,
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

export const runLines = (runs: readonly RunView[]): string[] =>
  runs
    .filter(({ endedAt }) => endedAt !== null)
    .slice(-LINES)
    .map(runLine);

/** Undefined for what no version of ours wrote. */
export function readRunLine(line: string): RunLine | undefined {
  const [n, endedAt, coder, model, outcome, tokens, cost = '', seconds] = line.split('|');
  if (!coder || !endedAt || !outcome || model === undefined || seconds === undefined) return undefined;
  return {
    ...{ n: Number(n), endedAt, coder, model, outcome, tokens: Number(tokens), seconds: Number(seconds) },
    costUsd: Number(cost.replace('+?', '')),
    unpriced: cost.endsWith('+?'),
  };
}
