import type { Failure } from '../../domain/failure.ts';
import type { AgentOutcome, RunRef } from '../../domain/run.ts';
import type { Deps } from '../context.ts';
import { faultOf } from './blame.ts';

/**
 * Why a run that its receipts reject is none of its agent's doing: the disk was full while it ran, or the machine does not work.
 * An agent whose command had no room may end with 0 all the same. Undefined: it is the agent's, or its end has said why already.
 */
export async function excuseOf(
  deps: Deps,
  ref: RunRef,
  { outcome, reasons }: { outcome: AgentOutcome; reasons: readonly string[] },
): Promise<Failure | undefined> {
  if (outcome.stopped || outcome.ended?.failure) return undefined;
  const fault = await faultOf(deps);
  if (fault) return fault;
  const agoMs = Date.now() - Date.parse(outcome.startedAt);
  if (!(await deps.disk.wasFullSince(performance.now() - agoMs))) return undefined;
  const limit = deps.registry.find(ref)?.prepared?.policy.limits.diskBytes ?? Number.POSITIVE_INFINITY;
  const excess = await deps.disk.excess(ref, limit);
  if (excess) return { reason: 'over-budget', message: excess };
  return { reason: 'disk', message: ['the disk was full while it ran', ...reasons].join('; ').slice(0, 1_500) };
}
