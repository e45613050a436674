import type { Choice } from '../domain/route.ts';
import type { ClaimOrder } from './claim.ts';
import type { Deps } from './context.ts';

/** What a run of this task is to use on this worker; undefined where the worker has no coder at all. */
export async function choose(deps: Deps, order: ClaimOrder): Promise<Choice | undefined> {
  const coder = order.coder ?? deps.defaultCoder;
  if (!coder) return undefined;
  return { coder, ...(order.model ? { model: order.model } : {}) };
}
