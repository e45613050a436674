import { emptyResult, dropRefs } from '../../adapters/git/rescue/hand-over.ts';
import { gitText } from '../../adapters/git/git.ts';
import { isIn } from '../../adapters/git/source/ancestry.ts';
import { mergeCommit, mergeTrees } from '../../adapters/git/merge.ts';
import { failGit } from '../../adapters/git/failures.ts';
import { copyObjects } from '../../adapters/git/pack.ts';
import { resolveBase } from '../../adapters/git/source/resolve-base.ts';
import { deliverBranch } from '../../adapters/git/deliver/deliver.ts';
import { nameOfSource, openSource, reading, type Source } from '../../adapters/git/source/source.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import { baseRef, branchOf, rescueFolder } from '../../domain/names.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Result } from '../../domain/people/waiting.ts';
import type { Deps } from '../worker/context.ts';
import { openOrigin } from './origin.ts';

const PATHS_MAX = 10;

/**
 * One commit that has the results of all the tasks that this one depends on: the newest of them where it has the others, else
 * a merge, which is kept at the repository as the task's `baseRef`. The same results give the same commit.
 */
export async function joinResults(
  deps: Deps,
  ref: RunRef,
  { repo, results, signal }: { repo: string; results: readonly Result[]; signal: AbortSignal },
): Promise<{ ok: true; base: string } | { ok: false; failure: Failure }> {
  const [first, ...others] = results;
  if (!first || others.length === 0) return { ok: true, base: first?.commit ?? '' };
  const opened = await openSource({ repo, mirrorDir: deps.home.mirror });
  if (!opened.ok) return opened;
  const { source } = opened;
  const origin = await openOrigin(deps, { task: { repo }, base: first.commit, signal });
  if (!origin.ok) return origin;
  const gitDir = `${deps.home.run(ref.taskId, ref.runId).dir}/join.git`;
  const giveBack = deps.registry.borrow({ taskId: ref.taskId, runId: gitDir }, origin.baseDir);
  try {
    await emptyResult({ dir: gitDir, base: first.commit, baseDir: origin.baseDir });
    const brought = await bringOthers({ source, base: first.commit, others, gitDir, signal });
    if (!brought.ok) return brought;
    const joined = await mergeAll(deps, { gitDir, first, others });
    if (!joined.ok || results.some(({ commit }) => commit === joined.base)) return joined;
    const kept = { source, gitDir, commit: joined.base, base: first.commit, ref: baseRef(ref.taskId), signal };
    const delivered = await deliverBranch(kept);
    return delivered.ok ? joined : delivered;
  } finally {
    giveBack();
    await removeTree(gitDir);
  }
}

/** By commit: the branch of a result may be gone, e.g. with its pull request. */
async function bringOthers(bring: {
  source: Source;
  base: string;
  others: readonly Result[];
  gitDir: string;
  signal: AbortSignal;
}): Promise<{ ok: true } | { ok: false; failure: Failure }> {
  const { source, base, others, gitDir, signal } = bring;
  for (const { commit } of others) {
    const found = await resolveBase({ source, base: commit, signal });
    if (!found.ok) return found;
  }
  try {
    const revs = [...others.map(({ commit }) => commit), `^${base}`];
    await copyObjects({ from: reading(source), to: { gitDir }, revs, strict: true });
    return { ok: true };
  } catch (error) {
    return failGit(error, 'repo-unavailable', `${nameOfSource(source)} did not give the results`);
  }
}

async function mergeAll(
  { config }: Deps,
  { gitDir, first, others }: { gitDir: string; first: Result; others: readonly Result[] },
): Promise<{ ok: true; base: string } | { ok: false; failure: Failure }> {
  const seconds = Number(await gitText(['show', '-s', '--format=%ct', first.commit], { gitDir }));
  let base = first.commit;
  for (const { id, commit } of others) {
    if (await isIn({ gitDir, commit, head: base })) continue;
    if (await isIn({ gitDir, commit: base, head: commit })) {
      base = commit;
      continue;
    }
    const { tree, paths } = await mergeTrees({ gitDir, ours: base, theirs: commit });
    if (paths.length > 0) {
      const where = paths.slice(0, PATHS_MAX).join(', ');
      const message = `the results of the tasks that it depends on conflict: ${branchOf(id)} with the others in ${where}; let one of them depend on the other`;
      return { ok: false, failure: { reason: 'conflict', message } };
    }
    const message = `Merge ${branchOf(id)}\n`;
    base = mergeCommit({ gitDir, tree, parents: [base, commit], identity: config.git, seconds, message });
  }
  return { ok: true, base };
}

/** Once no run of the task will start there any more: its branch has it. */
export async function dropJoined(deps: Deps, { taskId }: RunRef, { task, baseDir }: Prepared): Promise<void> {
  if (task.dependsOn.length < 2 || !task.repo || !deps.inContact()) return;
  const opened = await openSource({ repo: task.repo, mirrorDir: deps.home.mirror });
  if (!opened.ok) return;
  await dropRefs({ source: opened.source, folder: rescueFolder(taskId), suffix: '/base', gitDir: baseDir });
}
