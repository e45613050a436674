import { commonCommit } from '../../adapters/git/source/ancestry.ts';
import { emptyResult } from '../../adapters/git/rescue/hand-over.ts';
import { layOutWork } from '../../adapters/git/worktree/write-tree.ts';
import { fail, failGit } from '../../adapters/git/failures.ts';
import { alternateList, copyObjects } from '../../adapters/git/pack.ts';
import { resolveBase } from '../../adapters/git/source/resolve-base.ts';
import { nameOfSource, openSource, reading } from '../../adapters/git/source/source.ts';
import { workOnto } from '../../adapters/git/worktree/rebase-work.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import type { Resumed } from '../../adapters/state/run-registry.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import { branchOf, numberOf } from '../../domain/names.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Deps } from '../worker/context.ts';

interface Continue {
  repo: string;
  /** A branch, tag or commit of the repository. */
  ref: string;
  base: string;
  baseDir: string;
  maxBytes: number;
  signal: AbortSignal;
}

type TakenUp = { ok: true; resumed: Resumed; paths: string[] } | { ok: false; failure: Failure };

/**
 * Lays unfinished work out in a worktree that setup is done with: its commits where it stands on the base, else merged with
 * that and uncommitted. The base stays what the result is judged from. Never without it: what cannot be found fails the run.
 */
export async function continueFrom(deps: Deps, run: RunRef, order: Continue): Promise<TakenUp> {
  const { repo, ref, base, baseDir, maxBytes, signal } = order;
  const files = deps.home.run(run.taskId, run.runId);
  const opened = await openSource({ repo, mirrorDir: deps.home.mirror });
  if (!opened.ok) return opened;
  const { source } = opened;
  const found = await resolveBase({ source, base: ref, signal });
  if (!found.ok) return found;
  const { commit } = found;
  const from = { ...reading(source), env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: alternateList(`${baseDir}/objects`) } };
  try {
    // A base that was put together from several results is in the base store alone.
    const since = await commonCommit(from, commit, base);
    if (!since) return fail('base-missing', `${ref} has no history in common with the base ${base.slice(0, 12)}`);
    await emptyResult({ dir: files.resume, base, baseDir });
    if (commit !== since)
      await copyObjects({ from, to: { gitDir: files.resume }, revs: [commit, `^${since}`], strict: true, maxBytes });
    const at = new Date().toISOString();
    const meta = {
      ...{ taskId: run.taskId, runId: run.runId, n: numberOf(run.runId), workflow: '', base: since, head: commit },
      ...{ coder: '', session: null, inFlight: null, claimedAt: at, at },
    };
    const work = { gitDir: files.resume, id: commit, commit, meta };
    const identity = deps.config.git;
    const onBase = since === base ? work : await workOnto({ work, base, baseDir, dir: files.onto, identity });
    const laid = await layOutWork({ tree: files.tree, baseDir, base, branch: branchOf(run.taskId), work: onBase });
    if (!laid.ok) return fail('base-missing', `${ref} of ${nameOfSource(source)} cannot be gone on from: ${laid.why}`);
    await Promise.all([files.resume, files.onto].map(removeTree));
    const saved = { commit, head: onBase.meta.head, session: null, pushed: true, at };
    return { ok: true, resumed: { runId: null, saved, why: ref, inFlight: null, session: null }, paths: laid.paths };
  } catch (error) {
    return failGit(error, 'base-missing', `${ref} of ${nameOfSource(source)} cannot be gone on from`);
  }
}
