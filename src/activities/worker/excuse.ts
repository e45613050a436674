import { FAILURES, type Failure } from '../../domain/agent/failure.ts';
import { failureOf } from '../../domain/view/failure-from.ts';
import type { Verdict } from '../../domain/evidence/receipt.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { AgentOutcome } from '../../domain/run/outcome.ts';
import type { Deps } from './context.ts';
import { blamed, faultOf } from './blame.ts';

/**
 * Why a run that its receipts reject is none of its agent's doing: the machine does not work, the disk was full while it ran, or
 * its checks met what may be this worker's own and another one can be tried. An agent whose command had no room may end with 0 all
 * the same; what it did wrong with room or without stays its own. Undefined: it is the agent's, or its end has said why already.
 */
export async function excuseOf(
  deps: Deps,
  ref: RunRef,
  { outcome, verdict }: { outcome: AgentOutcome; verdict: Verdict },
): Promise<Failure | undefined> {
  if (outcome.stopped || outcome.ended?.failure) return undefined;
  const fault = await faultOf(deps);
  if (fault) return fault;
  if (verdict.reason === 'receipts-rejected') return fullDisk(deps, ref, { outcome, verdict });
  const failure = failureOf(outcome, verdict);
  if (!('local' in FAILURES[failure.reason])) return undefined;
  const owed = await blamed(deps, failure, deps.registry.find(ref));
  return owed.local ? owed : undefined;
}

async function fullDisk(
  deps: Deps,
  ref: RunRef,
  { outcome, verdict }: { outcome: AgentOutcome; verdict: Verdict },
): Promise<Failure | undefined> {
  const agoMs = Date.now() - Date.parse(outcome.startedAt);
  if (!(await deps.disk.wasFullSince(performance.now() - agoMs))) return undefined;
  const limit = deps.registry.find(ref)?.prepared?.policy.limits.diskBytes ?? Number.POSITIVE_INFINITY;
  const excess = await deps.disk.excess(ref, limit);
  if (excess) return { reason: 'over-budget', message: excess };
  const message = ['the disk was full while it ran', ...verdict.reasons].join('; ').slice(0, 1_500);
  return { reason: 'disk', message };
}
