import { existsSync } from 'node:fs';
import { dropRefs } from '../adapters/git/hand-over.ts';
import { openSource } from '../adapters/git/source.ts';
import { readJson } from '../adapters/json-file.ts';
import type { Prepared } from '../adapters/run-registry.ts';
import { rescueFolder } from '../domain/names.ts';
import { isUrl } from '../domain/task.ts';
import type { ForgetEnding } from '../domain/worker.ts';
import type { Deps } from './context.ts';
import { forgetWork } from './save-work.ts';

export interface ForgetOrder {
  taskId: string;
  ending: ForgetEnding;
}

/**
 * Of a task that has ended without a run: removes what its repository keeps of it for other machines, and where it is done its
 * work on this one. False: something of it may be left, and it is to be tried again.
 */
export async function forgetTask(deps: Deps, { taskId, ending }: ForgetOrder, signal?: AbortSignal): Promise<boolean> {
  const prepared = await readJson<Prepared>(`${deps.home.task(taskId).dir}/task.json`);
  if (!prepared) return true;
  if (!deps.inContact() || deps.registry.list().some((run) => run.taskId === taskId)) return false;
  const dropped = await dropShared(deps, { taskId, prepared, ...(signal ? { signal } : {}) });
  if (ending === 'done') await forgetWork(deps, taskId, prepared);
  return dropped;
}

async function dropShared(
  deps: Deps,
  { taskId, prepared, ...given }: { taskId: string; prepared: Prepared; signal?: AbortSignal },
): Promise<boolean> {
  const { task, repoKey, baseDir } = prepared;
  // A path that is gone has nothing left.
  if (!task.repo || (!isUrl(task.repo) && !existsSync(task.repo))) return true;
  const opened = await openSource({ repo: task.repo, mirrorDir: deps.home.mirror });
  if (!opened.ok) return false;
  const gitDir = [deps.home.vaultOf(repoKey), baseDir].find((dir) => existsSync(dir));
  // Nothing was ever saved or shared from here.
  if (!gitDir) return true;
  return dropRefs({ source: opened.source, folder: rescueFolder(taskId), suffix: '', gitDir, ...given });
}
