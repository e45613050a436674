import { removeTree } from '../../disk/remove-tree.ts';
import { compare } from '../capture/result.ts';
import { treeEntries, treeOf } from '../entries.ts';
import { FETCH, git, GitFailed } from '../git.ts';
import { formatOf, initGitDir, writeRef } from '../init.ts';
import { listRemote, NETWORK_TIMEOUT_MS } from '../source/mirror.ts';
import { fail, failGit, type Failed } from '../failures.ts';
import { copyObjects } from '../pack.ts';
import { readRef } from './rescue.ts';
import { checkObjects, nameOfSource, reading, type Source } from '../source/source.ts';
import { dropWip } from './wip.ts';
import type { ResultTree } from '../../../ports.ts';

const RESULT = 'refs/heads/result';
/** A remote that hangs holds up nobody for longer. */
const LIST_MS = 10_000;

/** Brings a commit that was handed over, and nothing else, into a repository of ours that is made anew. */
export async function fetchResult(fetch: {
  source: Source;
  /** Where the source has it. */
  ref: string;
  commit: string;
  base: string;
  baseDir: string;
  dir: string;
  signal: AbortSignal;
}): Promise<{ ok: true } | Failed> {
  const { source, ref, commit, base, dir, signal } = fetch;
  const name = nameOfSource(source);
  await emptyResult(fetch);
  try {
    if (source.kind === 'url') {
      await git(['-c', 'fetch.fsckObjects=true', ...FETCH, '--', source.url, `+${ref}:${RESULT}`], {
        ...{ gitDir: dir, network: true, timeoutMs: NETWORK_TIMEOUT_MS, signal },
      });
    } else {
      const [line = ''] = await checkObjects(source, [ref]);
      const [id = ''] = line.split(' ');
      if (id !== commit) return fail('repo-unavailable', `${name} does not have ${commit.slice(0, 12)} at ${ref}`);
      await copyObjects({ from: reading(source), to: { gitDir: dir }, revs: [commit, `^${base}`], strict: true });
      writeRef(dir, RESULT, commit);
    }
  } catch (error) {
    return failGit(error, 'repo-unavailable', `${name} did not give ${ref}`);
  }
  if (readRef(dir, RESULT) === commit) return { ok: true };
  return fail('repo-unavailable', `${name} does not have ${commit.slice(0, 12)} at ${ref}`);
}

/** An empty repository of ours beside a base. */
export async function emptyResult({
  dir,
  base,
  baseDir,
}: {
  dir: string;
  base: string;
  baseDir: string;
}): Promise<void> {
  await removeTree(dir);
  initGitDir({ dir, format: formatOf(base), head: `ref: ${RESULT}`, bare: true, borrow: baseDir });
}

/** What a commit changed, from its trees alone. */
export async function resultOf(of: { gitDir: string; base: string; commit: string }): Promise<ResultTree> {
  const { gitDir, base, commit } = of;
  const [from, to] = [await treeEntries(gitDir, base), await treeEntries(gitDir, commit)];
  const nothing = { commits: [], leftUncommitted: 0, odd: null, violations: [], twins: [] };
  return { gitDir, base, commit, tree: await treeOf(of), changes: compare(from.entries, to.entries), ...nothing };
}

/** Removes from a source all refs under `folder` that end with `suffix`. False: some may be left; that is no fault. */
export async function dropRefs(drop: {
  source: Source;
  folder: string;
  suffix: string;
  gitDir: string;
  /** Gives it up. */
  signal?: AbortSignal;
}): Promise<boolean> {
  const { source, folder, suffix, gitDir, signal } = drop;
  const given = signal ? { signal } : {};
  const mine = (ref: string) => ref.startsWith(`${folder}/`) && ref.endsWith(suffix);
  try {
    if (source.kind === 'url') {
      const listed = await listRemote(source.url, [`${folder}/*`], { timeoutMs: LIST_MS, ...given });
      if (!listed.ok) return false;
      for (const ref of [...listed.refs.keys()].filter(mine))
        if (!(await dropWip({ url: source.url, ref, gitDir, ...given }))) return false;
      return true;
    }
    const at = { gitDir: source.commonDir, as: source.owner };
    const refs = (await git(['for-each-ref', '--format=%(refname)', folder], at)).toString('utf8').split('\n');
    for (const ref of refs.filter(mine)) await git(['update-ref', '-d', ref], at);
    return true;
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    return false;
  }
}
