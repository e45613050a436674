import { formatDuration } from '../values/duration.ts';
import { NO_USAGE, type Usage } from '../agent/event.ts';
import type { Failure, Reason } from '../agent/failure.ts';
import type { Finding, Receipt } from './receipt.ts';

/** What a reviewer made of a task or of a result. */
export interface Opinion {
  pass: boolean;
  /** Why not: short lines, five at most. */
  reasons: string[];
}

/** Why there is no opinion: never the doing of the agent under review. */
export type ReviewFailure = Failure & {
  reason: Extract<Reason, 'unreviewed' | 'coder-missing' | 'rate-limited' | 'overloaded' | 'auth'>;
};

/** What asking a reviewer came to. */
export type Reviewed = ({ opinion: Opinion } | { failure: ReviewFailure }) & {
  coder: string;
  model: string | null;
  /** How often it was asked. */
  asked: number;
  /** Usage of all times that it was asked. */
  usage: Usage;
  durationMs: number;
};

/** What a reviewer said, as a finding; `about` is what it saw. */
export function findingOf(reviewed: Reviewed, about: { commit: string }): Finding {
  const { coder, model, asked, usage, durationMs } = reviewed;
  const evidence = { ...about, coder, model, asked, usage, durationMs };
  const who = model ? `${coder} (${model})` : coder;
  if ('failure' in reviewed) {
    const { reason, message, until } = reviewed.failure;
    const times = asked > 1 ? `, asked ${asked} times` : '';
    return { ok: false, reason, summary: `${message}${times}`, evidence, ...(until ? { until } : {}) };
  }
  const { pass, reasons } = reviewed.opinion;
  return pass
    ? { ok: true, shows: true, summary: `${who} has no objection, after ${formatDuration(durationMs)}`, evidence }
    : { ok: false, summary: `${who} objects: ${reasons.join('; ')}`, evidence: { ...evidence, reasons } };
}

/** The tokens that reviewers have used for these receipts. */
export const reviewUsage = (receipts: readonly Pick<Receipt, 'kind' | 'evidence'>[]): Usage =>
  (receipts.find(({ kind }) => kind === 'review')?.evidence['usage'] as Usage | undefined) ?? NO_USAGE;
