import type { MergeEntry, RefusedMerge } from '../../domain/deliver/merge.ts';
import type { Policy } from '../../domain/repository/repo-policy.ts';
import type { Deps } from '../worker/context.ts';
import type { Origin } from '../prepare/origin.ts';
import { readPolicy } from '../prepare/read-policy.ts';

/** What each has to pass on the target; one that asks for what makes no sense there holds up no other. */
export async function policiesOf(
  deps: Deps,
  { members, origin }: { members: readonly MergeEntry[]; origin: Extract<Origin, { ok: true }> },
): Promise<{ policies: ReadonlyMap<string, Policy>; refused: RefusedMerge[] }> {
  const policies = new Map<string, Policy>();
  const refused: RefusedMerge[] = [];
  for (const { id, task } of members) {
    const read = await readPolicy(deps, { task, base: origin.base, baseDir: origin.baseDir });
    if (read.ok) policies.set(id, read.policy);
    else refused.push({ id, reason: 'repo-unavailable', message: read.failure.message });
  }
  return { policies, refused };
}
