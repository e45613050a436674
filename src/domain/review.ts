import { z } from 'zod';
import { formatDuration } from './duration.ts';
import { NO_USAGE, type Usage } from './event.ts';
import type { Failure, Reason } from './failure.ts';
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
  /** Of all times that it was asked. */
  usage: Usage;
  durationMs: number;
};

const REASONS_MAX = 5;
const REASON_MAX = 300;
/** The answer is looked for in so much of the end of the message. */
const ANSWER_MAX = 8_000;
const STARTS_MAX = 300;

const answer = z.object({ verdict: z.enum(['pass', 'veto']), reasons: z.array(z.string()).default([]) });

/** The JSON object that a reviewer's last message ends with, fenced or not; undefined where it does not end with one. */
export function readOpinion(message: string): Opinion | undefined {
  const end = message
    .slice(-ANSWER_MAX)
    .trimEnd()
    .replace(/\s*```$/, '');
  if (!end.endsWith('}')) return undefined;
  const starts = [...end.matchAll(/\{/g)].map(({ index }) => index).slice(-STARTS_MAX);
  for (const at of starts.reverse()) {
    const said = answer.safeParse(json(end.slice(at)));
    if (!said.success) continue;
    const reasons = said.data.reasons.map(clean).filter(Boolean).slice(0, REASONS_MAX);
    const pass = said.data.verdict === 'pass';
    return { pass, reasons: pass || reasons.length > 0 ? reasons : ['no reason was given'] };
  }
  return undefined;
}

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

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One line without control or direction characters. */
const clean = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, REASON_MAX);
