import { watchCommits, writePatch } from '../../adapters/git/capture/patch.ts';
import { treeEntries } from '../../adapters/git/entries.ts';
import { changedInSubmodules, pathsOf, unlikeBefore } from '../../adapters/git/worktree/lay-submodules.ts';
import { captureResult } from '../../adapters/git/capture/result.ts';
import { copyNote } from '../../adapters/state/notes.ts';
import { DiffScan } from '../../adapters/secrets/scan-diff.ts';
import type { SecretFound } from '../../domain/secrets/secret-shapes.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { AgentOutcome } from '../../domain/run/outcome.ts';
import type { ResultTree } from '../../ports.ts';
import type { Deps } from '../worker/context.ts';
import { persist, unlessDisk } from '../worker/persist.ts';

const PATCH_MAX = 4 * 1024 * 1024;

/**
 * What the agent left, read without trusting any of it. What is over its limit, or fills the disk, is not read: the rest
 * of the evidence then goes without.
 */
export async function readResult(
  deps: Deps,
  ref: RunRef,
  given: { prepared: Prepared; outcome: AgentOutcome; signal: AbortSignal },
): Promise<ResultTree> {
  const { prepared, outcome, signal } = given;
  const files = deps.home.run(ref.taskId, ref.runId);
  const unread = async (violation: string): Promise<ResultTree> => {
    await removeTree(files.result);
    const { base } = prepared;
    const nothing = { tree: '', changes: [], commits: [], leftUncommitted: 0, odd: null, twins: [] };
    return { gitDir: files.result, base, commit: base, ...nothing, violations: [violation] };
  };
  // What is left of the disk is for the receipts.
  if (outcome.stopped === 'disk') return unread('the result was not read, as the disk is full');
  const excess = await deps.disk.excess(ref, prepared.policy.limits.diskBytes);
  if (excess) return unread(excess);
  const capture = () =>
    captureResult({
      ...{ tree: files.tree, resultDir: files.result, baseDir: prepared.baseDir, base: prepared.base },
      ...{ taskId: ref.taskId, identity: deps.config.git, preexisting: prepared.preexisting },
      submodules: pathsOf(prepared.submodules),
    }).then((result) => withSubmodules(result, { tree: files.tree, prepared }));
  if (outcome.stopped === null && outcome.exitCode === 0) return persist(deps, capture, signal);
  // What is rejected anyway waits for no room: it may be what takes it.
  return capture().catch((error: unknown) => {
    unlessDisk(error);
    return unread('the result was not read, as the disk is full');
  });
}

/** Tells what became of the files of submodules, which are no part of it. */
async function withSubmodules(
  result: ResultTree,
  { tree, prepared: { submodules, preexisting } }: { tree: string; prepared: Prepared },
): Promise<ResultTree> {
  // What could lead out of the tree is not followed.
  if (submodules.length === 0 || result.violations.length > 0) return result;
  const { entries } = await treeEntries(result.gitDir, result.commit);
  const changed = unlikeBefore(await changedInSubmodules({ tree, submodules, links: entries }), preexisting);
  return changed.length > 0 ? { ...result, inSubmodules: changed } : result;
}

/** For people, and for the next run: the notes and the change as a patch. Gives the secrets that the change would deliver. */
export async function keepNotes(
  { home, config, secrets }: Deps,
  ref: RunRef,
  { result, n }: { result: ResultTree; n: number },
): Promise<SecretFound[]> {
  const { notes } = home.run(ref.taskId, ref.runId);
  const kept = home.task(ref.taskId);
  const mask = (text: string) => secrets.redaction.text(text);
  await copyNote(notes, kept.plan, mask);
  await copyNote(notes, kept.knowledge, mask);
  if (result.commit === result.base) return [];
  const { gitDir, base, commit, commits } = result;
  const scan = () => new DiffScan(secrets.redaction, config.secrets.ignore);
  const [whole, each] = [scan(), scan()];
  const file = kept.runOf(n).patch;
  await writePatch({ gitDir, base, commit, file, maxBytes: PATCH_MAX, watch: whole, secrets: secrets.all });
  if (commits.length > 1) await watchCommits({ gitDir, base, commit }, each);
  const isTold = (one: SecretFound) => whole.found.some(({ path, what }) => path === one.path && what === one.what);
  return [...whole.found, ...each.found.filter((one) => !isTold(one))];
}
