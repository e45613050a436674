import { git, GitFailed } from '../git.ts';
import { checkedOutAt } from './merge-source.ts';
import type { Source } from '../source/source.ts';

const PUSH = ['push', '--quiet', '--no-verify', '--no-signed', '--recurse-submodules=no'];
const TIMEOUT_MS = 8_000;

/** Removes a branch that is still at that commit, and that no worktree has checked out; what cannot be reached is no fault. */
export async function withdrawBranch(withdraw: {
  source: Source;
  /** Without `refs/heads/`. */
  branch: string;
  commit: string;
  /** Any repository of ours. */
  gitDir: string;
}): Promise<void> {
  const { source, branch, commit, gitDir } = withdraw;
  const ref = `refs/heads/${branch}`;
  try {
    if (source.kind === 'url') {
      const args = [...PUSH, `--force-with-lease=${ref}:${commit}`, '--', source.url, `:${ref}`];
      await git(args, { gitDir, network: true, timeoutMs: TIMEOUT_MS });
    } else if (!(await checkedOutAt(source, branch)))
      await git(['update-ref', '-d', '--', ref, commit], { gitDir: source.commonDir, as: source.owner });
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
  }
}
