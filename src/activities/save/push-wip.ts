import { failpoint } from '../../adapters/failpoint.ts';
import { readRef } from '../../adapters/git/rescue/rescue.ts';
import { dropWip, pushWip, type Wip } from '../../adapters/git/rescue/wip.ts';
import type { WorkRecord } from '../../adapters/git/rescue/work-record.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import { wipRef, workRef } from '../../domain/names.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Task } from '../../domain/task/schema.ts';
import { isUrl } from '../../domain/repository/repository-name.ts';
import type { Deps } from '../worker/context.ts';

/** Remotes that will not take it: said once, and not asked again. */
const refusing = new Set<string>();
const told = new Set<string>();

/** Where a task's work in progress may be kept for other machines; undefined: nowhere. */
export function wipOf(taskId: string, { repo, resume }: Pick<Task, 'repo' | 'resume'>): Wip | undefined {
  return repo && isUrl(repo) && resume !== false ? { url: repo, ref: wipRef(taskId) } : undefined;
}

/** Brings saved work to the repository's remote. False where it does not take it, or has newer: never a fault. */
export async function shareWork(
  deps: Deps,
  ref: RunRef,
  { record, signal }: { record: WorkRecord; signal?: AbortSignal },
): Promise<boolean> {
  const prepared = deps.registry.find(ref)?.prepared;
  const wip = prepared && wipOf(ref.taskId, prepared.task);
  if (!wip || refusing.has(wip.url) || !deps.inContact()) return false;
  const scratch = `${deps.home.run(ref.taskId, ref.runId).dir}/wip-${process.hrtime.bigint()}.git`;
  try {
    const pushed = await pushWip({ ...wip, record, scratch, ...(signal ? { signal } : {}) });
    if (pushed.ok) {
      failpoint('share.pushed');
      return true;
    }
    if (pushed.why === 'newer' || signal?.aborted) return false;
    if (pushed.why === 'refused') refusing.add(wip.url);
    if (!told.has(wip.url)) deps.log(`${pushed.message}; it stays on this machine`);
    told.add(wip.url);
    return false;
  } finally {
    await removeTree(scratch);
  }
}

/** Removes what other machines could go on from, once nobody will. */
export async function unshareWork(deps: Deps, ref: RunRef): Promise<void> {
  const record = deps.registry.find(ref);
  const wip = record?.prepared && wipOf(ref.taskId, record.prepared.task);
  if (!wip || !record.prepared || !deps.inContact()) return;
  const { baseDir, repoKey } = record.prepared;
  const saved = readRef(deps.home.vaultOf(repoKey), workRef(ref.taskId, ref.runId));
  // Nothing was ever put there: no need to ask.
  if (record.n > 1 || saved) await dropWip({ ...wip, gitDir: baseDir });
}
