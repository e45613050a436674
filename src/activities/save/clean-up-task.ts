import { existsSync } from 'node:fs';
import { emptyBase } from '../../adapters/git/source/base-store.ts';
import { dropRefs } from '../../adapters/git/rescue/hand-over.ts';
import { openSource } from '../../adapters/git/source/source.ts';
import { readJson } from '../../adapters/disk/json-file.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import { rescueFolder } from '../../domain/names.ts';
import { isUrl } from '../../domain/repository/repository-name.ts';
import type { ForgetEnding } from '../../domain/worker/worker.ts';
import type { Deps } from '../worker/context.ts';
import { forgetWork } from './save-work.ts';

export interface ForgetInput {
  taskId: string;
  ending: ForgetEnding;
  /** For where no run of it was prepared here. */
  repo?: string;
}

/**
 * Of a task that has ended without a run: removes what its repository keeps of it for other machines, and where it is done its
 * work on this one. False: something of it may be left, and it is to be tried again.
 */
export async function cleanUpTask(
  deps: Deps,
  { taskId, ending, ...order }: ForgetInput,
  signal?: AbortSignal,
): Promise<boolean> {
  const prepared = await readJson<Prepared>(deps.home.task(taskId).prepared);
  const repo = prepared?.task.repo ?? order.repo;
  if (!deps.inContact() || deps.registry.list().some((run) => run.taskId === taskId)) return false;
  const dropped = !repo || (await dropShared(deps, { taskId, repo, ...(signal ? { signal } : {}) }));
  if (ending === 'done' && prepared) await forgetWork(deps, taskId, prepared);
  return dropped;
}

async function dropShared(
  deps: Deps,
  { taskId, repo, ...given }: { taskId: string; repo: string; signal?: AbortSignal },
): Promise<boolean> {
  // A path that is gone has nothing left.
  if (!isUrl(repo) && !existsSync(repo)) return true;
  const opened = await openSource({ repo, mirrorDir: deps.home.mirror });
  if (!opened.ok) return false;
  const { source } = opened;
  // One of its format, where there is one.
  const known = [deps.home.vaultOf(source.key), ...(source.kind === 'url' ? [source.gitDir] : [])].find(existsSync);
  const gitDir = known ?? (await emptyBase(deps.home)).path;
  return dropRefs({ source, folder: rescueFolder(taskId), suffix: '', gitDir, ...given });
}
