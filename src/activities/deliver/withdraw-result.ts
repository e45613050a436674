import { existsSync } from 'node:fs';
import { openSource } from '../../adapters/git/source/source.ts';
import { withdrawBranch } from '../../adapters/git/deliver/withdraw.ts';
import { readJson } from '../../adapters/disk/json-file.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import { branchOf } from '../../domain/names.ts';
import type { Deps } from '../worker/context.ts';

/** Removes the delivered branch of a cancelled task, if it is still at that commit. */
export async function withdrawResult(
  deps: Deps,
  { taskId, commit }: { taskId: string; commit: string },
): Promise<void> {
  const prepared = await readJson<Prepared>(deps.home.task(taskId).prepared);
  const repo = prepared?.task.repo;
  if (!prepared || !repo || !deps.inContact()) return;
  const opened = await openSource({ repo, mirrorDir: deps.home.mirror });
  const gitDir = [deps.home.vaultOf(prepared.repoKey), prepared.baseDir].find((dir) => existsSync(dir));
  if (opened.ok && gitDir) await withdrawBranch({ source: opened.source, branch: branchOf(taskId), commit, gitDir });
}
