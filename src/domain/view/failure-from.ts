import { bothEnds } from '../agent/event.ts';
import type { Failure } from '../agent/failure.ts';
import type { Verdict } from '../evidence/receipt.ts';
import type { AgentOutcome } from '../run/outcome.ts';

/** What a check said is in it, as its receipt tells it. */
const MESSAGE_MAX = 3_000;

/** The first cause wins: why it was stopped, then what the coder itself reported, then the receipts. */
export function failureOf(outcome: AgentOutcome, verdict: Verdict): Failure {
  const judged = verdict.reason ?? 'receipts-rejected';
  const { stopped, ended, refused = [] } = outcome;
  // What was not done for want of a permission is neither made up nor bad work.
  const wanting = refused.length > 0 && (judged === 'receipts-rejected' || judged === 'fabricated');
  const reason = stopped ?? ended?.failure ?? (wanting ? 'permission-refused' : judged);
  const until = outcome.until ?? (reason === verdict.reason ? verdict.until : undefined);
  const said = stopped
    ? []
    : ended?.failure
      ? [outcome.claim]
      : wanting
        ? [`it went on without ${refused.join(', ')}`]
        : [];
  return {
    reason,
    message: bothEnds(
      [...said, ...(reason === 'blocked-by-agent' ? verdict.reasons.slice(0, 1) : verdict.reasons)]
        .filter(Boolean)
        .join('; '),
      MESSAGE_MAX,
    ),
    ...(until ? { until } : {}),
    ...(outcome.moves ? { moves: true } : {}),
  };
}
