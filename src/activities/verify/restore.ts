import { restoreOnTop } from '../../adapters/git/worktree/restore.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Policy } from '../../domain/repository/repo-policy.ts';
import type { ResultTree } from '../../ports.ts';
import { restoredPaths } from '../../receipts/trial/trial.ts';
import type { Deps } from '../worker/context.ts';

/**
 * The result with what the agent may not decide about as in the base, by a commit of ours on top of its own: what is tried
 * out is then what is signed, delivered and built upon.
 */
export async function restoreResult(
  { config }: Pick<Deps, 'config'>,
  { taskId }: RunRef,
  { policy, result }: { policy: Policy; result: ResultTree },
): Promise<ResultTree> {
  const { gitDir, base, commit, changes, violations } = result;
  if (commit === base || violations.length > 0) return result;
  const asInBase = await restoredPaths({ policy, result });
  const made = await restoreOnTop({ gitDir, base, commit, asInBase, taskId, identity: config.git });
  if (!made) return result;
  const { restored, ...rest } = made;
  return { ...result, ...rest, own: { commit, changes, restored } };
}
