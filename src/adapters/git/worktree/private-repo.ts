import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { removeBusyTree } from '../../disk/remove-tree.ts';
import { treeEntries } from '../entries.ts';
import { git, type Owner } from '../git.ts';
import { formatOf, initGitDir, writeRef, type Identity } from '../init.ts';

export interface CreatePrivateRepo {
  /** Becomes the worktree, with the repository in its `.git`. */
  tree: string;
  /** Git dir of the base store that objects are borrowed from. */
  baseDir: string;
  commit: string;
  /** Without `refs/heads/`, e.g. `fleet/<task>`. */
  branch: string;
  identity: Identity;
}

const MAKING = '.making-';

/**
 * The agent's own repository, checked out on its branch. Made aside and moved into place whole: where `tree` has
 * something in it, it is complete, and is left as it is.
 */
export async function createPrivateRepo(create: CreatePrivateRepo): Promise<void> {
  const { tree, commit } = create;
  await sweep(tree);
  if (existsSync(tree) && readdirSync(tree).length > 0) return;
  const temp = `${tree}${MAKING}${randomBytes(4).toString('hex')}`;
  const gitDir = `${temp}/.git`;
  try {
    mkdirSync(temp, { recursive: true });
    initGitDir({
      dir: gitDir,
      format: formatOf(commit),
      head: `ref: refs/heads/${create.branch}`,
      bare: false,
      borrow: create.baseDir,
      identity: create.identity,
    });
    writeRef(gitDir, `refs/heads/${create.branch}`, commit);
    await git([`--work-tree=${temp}`, 'read-tree', '--reset', '-u', commit], {
      gitDir,
      cwd: temp,
      timeoutMs: 10 * 60_000,
    });
    renameSync(temp, tree);
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** What a killed attempt left. Only one attempt per run is ever alive, but for its git. */
async function sweep(tree: string): Promise<void> {
  const prefix = basename(tree) + MAKING;
  if (!existsSync(dirname(tree))) return;
  for (const name of readdirSync(dirname(tree)))
    if (name.startsWith(prefix)) await removeBusyTree(`${dirname(tree)}/${name}`);
}

/** A regular file of the base, or null where there is none. Throws where it is larger than `maxBytes` (default 1 MiB). */
export async function readAtBase(read: {
  baseDir: string;
  commit: string;
  path: string;
  maxBytes?: number;
  /** The owner of a user's repository. */
  as?: Owner | undefined;
}): Promise<Buffer | null> {
  const { baseDir: gitDir, as, maxBytes = 1024 * 1024 } = read;
  const entry = (await treeEntries(gitDir, read.commit, { as })).entries.get(read.path);
  if (!entry?.mode.startsWith('100')) return null;
  return git(['cat-file', 'blob', entry.id], { gitDir, maxBytes, ...(as ? { as } : {}) });
}
