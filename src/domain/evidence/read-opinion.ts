import { z } from 'zod';
import type { Opinion } from './review.ts';

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
