import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isUrl } from '../../../domain/repository/repository-name.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { deliverBranch, type Delivered } from './deliver.ts';
import { FETCH, git, GitFailed } from '../git.ts';
import { formatOf, initGitDir } from '../init.ts';
import { NETWORK_TIMEOUT_MS } from '../source/mirror.ts';
import { failGit, type Failed } from '../failures.ts';
import { openSource, type PathSource } from '../source/source.ts';

interface Copy {
  /** Path or URL. */
  repo: string;
  commit: string;
  /** Where the repository has it, and where it is to be as well: full names. */
  from: string;
  to: string;
}

/** A second branch at a commit that the repository has already; one that is there is left, as `deliverBranch` does. */
export async function copyBranch({ repo, commit, from, to }: Copy): Promise<Delivered | Failed> {
  const order = { commit, base: commit, ref: to };
  if (!isUrl(repo)) {
    const opened = await openSource({ repo, mirrorDir: noMirror });
    if (!opened.ok) return opened;
    const source = opened.source as PathSource;
    return deliverBranch({ ...order, source, gitDir: source.commonDir });
  }
  return withRepository(commit, async (dir) => {
    const fetch = [...FETCH, '--depth=1', '--', repo, from];
    try {
      await git(fetch, { gitDir: dir, network: true, timeoutMs: NETWORK_TIMEOUT_MS });
    } catch (error) {
      return failGit(error, 'repo-unavailable', `${from} cannot be fetched`);
    }
    return deliverBranch({ ...order, source: { kind: 'url', key: '', url: repo, gitDir: dir }, gitDir: dir });
  });
}

/** Removes a branch that is still at this commit; false where it is not there, or at another. */
export async function dropBranch({
  repo,
  ref,
  commit,
}: {
  repo: string;
  ref: string;
  commit: string;
}): Promise<boolean> {
  try {
    if (isUrl(repo)) {
      await withRepository(commit, (gitDir) =>
        git(['push', '--quiet', '--no-verify', `--force-with-lease=${ref}:${commit}`, '--', repo, `:${ref}`], {
          ...{ gitDir, network: true, timeoutMs: NETWORK_TIMEOUT_MS },
        }),
      );
      return true;
    }
    const opened = await openSource({ repo, mirrorDir: noMirror });
    if (!opened.ok) return false;
    const { commonDir, owner } = opened.source as PathSource;
    await git(['update-ref', '-d', '--', ref, commit], { gitDir: commonDir, as: owner });
    return true;
  } catch (error) {
    if (error instanceof GitFailed) return false;
    throw error;
  }
}

const noMirror = (key: string): string => `/nonexistent/${key}`;

async function withRepository<T>(commit: string, work: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(`${tmpdir()}/fleet-branch-`);
  try {
    initGitDir({ dir, format: formatOf(commit), head: 'ref: refs/heads/none', bare: true });
    return await work(dir);
  } finally {
    await removeTree(dir);
  }
}
