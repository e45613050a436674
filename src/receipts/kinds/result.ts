import { FAILURES } from '../../domain/agent/failure.ts';
import type { ReceiptCollector } from '../../ports.ts';
import { clip } from '../bounded.ts';

const CLAIM_MAX = 500;

/**
 * The CLI's own terminal event. That it says ok shows nothing but that the agent did not break off; that the agent says it is
 * blocked is believed.
 */
export const result: ReceiptCollector = {
  kind: 'result',
  async collect({ structured, outcome }) {
    const { ended, session, model, usage, blocked } = outcome;
    if (!structured && blocked === undefined) return undefined;
    const claim = clip(outcome.claim, CLAIM_MAX);
    const evidence = { ended, session, model, usage, claim };
    if (blocked !== undefined)
      return {
        ok: false,
        reason: 'blocked-by-agent',
        summary: `the agent says that it cannot do this: ${blocked}`,
        evidence,
      };
    if (!ended) return { ok: false, reason: 'crashed', summary: 'the agent never reported its end', evidence };
    if (ended.ok) return { ok: true, summary: 'the agent reported its end', evidence };
    const meaning = FAILURES[ended.failure ?? 'agent-error'].meaning;
    return { ok: false, reason: 'agent-error', summary: `${meaning}${claim ? `: ${claim}` : ''}`, evidence };
  },
};
