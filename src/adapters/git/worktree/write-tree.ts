import { lstatSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { checkObjectStore } from '../capture/agent-head.ts';
import { put, raw, readBlobs } from './checkout.ts';
import { treeEntries, type Entry } from '../entries.ts';
import { git, GitFailed } from '../git.ts';
import { writeRef } from '../init.ts';
import { isGitName } from '../safe-links.ts';
import { copyObjects } from '../pack.ts';
import { compare } from '../capture/result.ts';
import type { WorkRecord } from '../rescue/work-record.ts';

const MOST_BLOBS = 200;
const MOST_BYTES = 64 * 1024 * 1024;
const TREE_BYTES = 256 * 1024 * 1024;

export interface LayOut {
  /** A private repository at its base, with whatever setup made; nothing in it may still be running. */
  tree: string;
  baseDir: string;
  base: string;
  /** Without `refs/heads/`. */
  branch: string;
  work: Pick<WorkRecord, 'gitDir' | 'commit'> & { meta: Pick<WorkRecord['meta'], 'head'> };
}

/**
 * Brings saved work into a fresh worktree: HEAD on the branch at the agent's own last commit, the index with it, and the
 * files as they were, so that what was uncommitted is uncommitted again. What the work leaves as in the base stays as
 * setup made it. Gives the paths that are the work's, or why it cannot be laid out.
 */
export async function layOutWork(order: LayOut): Promise<{ ok: true; paths: string[] } | { ok: false; why: string }> {
  const { tree, baseDir, base, work } = order;
  const { gitDir, commit, meta } = work;
  const from = await treeEntries(gitDir, base);
  const to = await treeEntries(gitDir, commit, { maxBytes: TREE_BYTES });
  const changes = compare(from.entries, to.entries);
  const strange = changes.find(({ path }) => !isPlain(path, to.entries.get(path) ?? from.entries.get(path)));
  if (strange) return { ok: false, why: `it has a file ${strange.path}` };
  const refused = checkRepository(order);
  if (refused) return { ok: false, why: refused };

  // 1. The files.
  for (const { path, kind } of changes) if (kind === 'deleted') remove(tree, path, from.entries.get(path));
  const wanted = changes.flatMap(({ path, kind }) => {
    const entry = to.entries.get(path);
    return kind === 'deleted' || !entry || entry.mode === '160000' ? [] : [{ path, entry }];
  });
  for (const group of await groups(gitDir, wanted)) {
    const blobs = await readBlobs(
      gitDir,
      group.map(({ entry }) => entry.id),
    );
    group.forEach(({ path, entry }, i) => put(tree, { path, entry, content: blobs[i] as Buffer }));
  }

  // 2. The agent's own commits, then HEAD and index. The objects go in without git looking at the repository around them.
  if (meta.head !== base) {
    await copyObjects({
      from: { gitDir },
      to: {
        gitDir,
        env: { GIT_OBJECT_DIRECTORY: `${tree}/.git/objects`, GIT_ALTERNATE_OBJECT_DIRECTORIES: `${baseDir}/objects` },
      },
      revs: [meta.head, `^${base}`],
      strict: true,
      looseBelow: 100,
    });
    writeRef(`${tree}/.git`, `refs/heads/${order.branch}`, meta.head);
    await writeIndex(order);
  }
  return { ok: true, paths: changes.map(({ path }) => path) };
}

/** A path that can only be below the tree, in folders whose names are text. */
function isPlain(path: string, entry: Entry | undefined): boolean {
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..' || isGitName(part))) return false;
  return entry?.bin === undefined || !/[\x80-\xff]/.test(dirname(entry.bin));
}

/** Setup commands have had their hands on it: no link may lead what we write elsewhere. */
function checkRepository({ tree, baseDir, branch }: LayOut): string | null {
  const folders = [`${tree}/.git`, ...parents(`refs/heads/${branch}`).map((path) => `${tree}/.git/${path}`)];
  const linked = folders.find((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false);
  return linked ? `${linked} is no folder` : checkObjectStore(tree, baseDir);
}

/** As `git checkout` would leave it, with the times and sizes of the files that are as in the commit. */
async function writeIndex({ tree, work: { gitDir, meta } }: LayOut): Promise<void> {
  const index = `${tree}/.git/index.fleet`;
  const options = { gitDir, cwd: tree, env: { GIT_INDEX_FILE: index }, timeoutMs: 10 * 60_000 };
  try {
    await git(['read-tree', meta.head], options);
    await git([`--work-tree=${tree}`, 'update-index', '-q', '--refresh'], options).catch((error: unknown) => {
      // 1: some files differ from the commit, as they should.
      if (!(error instanceof GitFailed) || error.code !== 1) throw error;
    });
    renameSync(index, `${tree}/.git/index`);
  } finally {
    for (const file of [index, `${index}.lock`]) rmSync(file, { force: true });
  }
}

function remove(tree: string, path: string, entry: Entry | undefined): void {
  const folders = parents(path);
  const real = folders.every((folder) => lstatSync(`${tree}/${folder}`, { throwIfNoEntry: false })?.isDirectory());
  if (!real) return;
  rmSync(raw(tree, path, entry) as string, { recursive: true, force: true });
  for (const folder of folders.reverse()) {
    if (readdirSync(`${tree}/${folder}`).length > 0) return;
    rmdirSync(`${tree}/${folder}`);
  }
}

/** Together no larger than what may be in memory at a time. */
async function groups<T extends { entry: Entry }>(gitDir: string, wanted: readonly T[]): Promise<T[][]> {
  const input = wanted.map(({ entry }) => `${entry.id}\n`).join('');
  const out = wanted.length ? (await git(['cat-file', '--batch-check'], { gitDir, input })).toString().split('\n') : [];
  const made: T[][] = [];
  let [group, bytes] = [[] as T[], 0];
  wanted.forEach((one, i) => {
    const size = Number(out[i]?.split(' ')[2]);
    if (group.length > 0 && (group.length >= MOST_BLOBS || bytes + size > MOST_BYTES)) {
      made.push(group);
      [group, bytes] = [[], 0];
    }
    group.push(one);
    bytes += size;
  });
  return group.length > 0 ? [...made, group] : made;
}

/** The folders on the way to a path, from the top. */
function parents(path: string): string[] {
  const found: string[] = [];
  for (let dir = dirname(path); dir !== '.'; dir = dirname(dir)) found.unshift(dir);
  return found;
}
