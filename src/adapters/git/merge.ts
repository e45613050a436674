import { ended, startGit } from './git.ts';
import { formatOf, type Identity } from './init.ts';
import { commitObject, writeLoose } from './objects.ts';

/** Two commits brought together. `paths`: where they conflict; the tree then has both sides, marked. */
export interface MergedTree {
  tree: string;
  paths: string[];
}

const TIMEOUT_MS = 10 * 60_000;

/** In a repository of ours that has both, without a worktree. Throws {@link GitFailed} where git cannot merge them at all. */
export async function mergeTrees(merge: { gitDir: string; ours: string; theirs: string }): Promise<MergedTree> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', merge.ours, merge.theirs];
  const child = startGit(args, { gitDir: merge.gitDir, timeoutMs: TIMEOUT_MS }, { stdin: 'ignore' });
  const { exitCode, stdout } = await child;
  const conflicts = exitCode === 1 && stdout instanceof Uint8Array;
  const out = conflicts ? Buffer.from(stdout) : await ended(child, args);
  const [tree = '', ...paths] = out.toString('utf8').split('\0').filter(Boolean);
  return { tree: tree.trim(), paths: [...new Set(paths)] };
}

/** A merge commit of two commits whose tree is known. Same input, same id. */
export function mergeCommit(merge: {
  gitDir: string;
  tree: string;
  parents: readonly [ours: string, theirs: string];
  identity: Identity;
  /** Seconds since 1970. */
  seconds: number;
  message: string;
}): string {
  const { gitDir, ...commit } = merge;
  return writeLoose({ gitDir, format: formatOf(merge.tree) }, 'commit', commitObject(commit));
}
