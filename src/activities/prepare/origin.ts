import { basename, dirname } from 'node:path';
import { dropDamagedBase, emptyBase, ensureBase } from '../../adapters/git/source/base-store.ts';
import { resolveBase } from '../../adapters/git/source/resolve-base.ts';
import { openSource, type PathSource } from '../../adapters/git/source/source.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { Deps } from '../worker/context.ts';

export type Origin =
  | ({ ok: true } & Pick<Prepared, 'base' | 'baseDir' | 'repoKey' | 'checkout' | 'sealed'>)
  | { ok: false; failure: Failure };

/** Where a task's repository comes from, the commit to start from, and its base store, which is made where it is missing. */
export async function openOrigin(
  { home }: Pick<Deps, 'home'>,
  { task, base, signal }: { task: Pick<Task, 'repo'>; base: string | null; signal: AbortSignal },
): Promise<Origin> {
  if (!task.repo) {
    const empty = await emptyBase(home);
    return { ok: true, base: empty.commit, baseDir: empty.path, repoKey: 'none', checkout: null, sealed: [] };
  }
  const opened = await openSource({ repo: task.repo, mirrorDir: home.mirror });
  if (!opened.ok) return opened;
  const { source } = opened;
  const resolved = await resolveBase({ source, signal, ...(base ? { base } : {}) });
  signal.throwIfAborted();
  if (!resolved.ok) return resolved;
  const { commit } = resolved;
  const stored = await ensureBase({ source, commit, home });
  if (!stored.ok) return stored;
  return {
    ok: true,
    base: commit,
    baseDir: stored.path,
    repoKey: source.key,
    checkout: source.kind === 'path' ? source.checkout : null,
    sealed: source.kind === 'path' ? foldersOf(source) : [],
  };
}

/** All that belongs to the user's repository: of a linked worktree also the main one. */
function foldersOf({ checkout, commonDir }: PathSource): string[] {
  const main = basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
  return [...new Set([checkout ?? main, commonDir, main])];
}

/** Where a run has no business: the user's repository, and ours behind the run's own. */
export const placesOf = (
  { home }: Pick<Deps, 'home'>,
  { sealed, baseDir, repoKey }: Pick<Prepared, 'sealed' | 'baseDir' | 'repoKey'>,
): { checkout: string | null; stores: string[] } => ({
  // The second one of the sealed folders has the repository itself.
  checkout: sealed[1] ?? sealed[0] ?? null,
  stores: [baseDir, home.mirror(repoKey)],
});

/**
 * Does what reads a base. Where git finds that damaged it is made anew from its source, once, and the work is done again.
 */
export async function onSoundBase<T>(
  baseDir: string,
  { open, work }: { open: () => Promise<Origin>; work: () => Promise<T> },
): Promise<T | { ok: false; failure: Failure }> {
  try {
    return await work();
  } catch (error) {
    if (!(await dropDamagedBase(baseDir, error))) throw error;
  }
  const anew = await open();
  if (!anew.ok) return anew;
  try {
    return await work();
  } catch (error) {
    if (!(await dropDamagedBase(baseDir, error))) throw error;
    const message = `${baseDir} is damaged again after it was made anew: check the disk of this worker`;
    return { ok: false, failure: { reason: 'repo-unavailable', message } };
  }
}
