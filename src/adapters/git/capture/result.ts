import { lstatSync, rmSync } from 'node:fs';
import { newTwins } from '../../../domain/evidence/path-collisions.ts';
import type { Change, ResultTree } from '../../../ports.ts';
import { removeBusyTree } from '../../disk/remove-tree.ts';
import { buildTree } from './build-tree.ts';
import { carryCommits, type Carried } from './import-commits.ts';
import { checkResult } from './check-result.ts';
import { binaryPath, same, treeEntries, type Entry, type Tree } from '../entries.ts';
import { formatOf, initGitDir, writeRef, type Identity, type ObjectFormat } from '../init.ts';
import { commitObject, writeBlobFile, writeLoose, type ObjectStore } from '../objects.ts';
import { own, SLICE_MS, walkTree } from './walk.ts';

export interface CaptureResult {
  /** The agent's worktree; nothing in it runs any more. */
  tree: string;
  /** The result repository: made anew, bare, borrowing from the base store. */
  resultDir: string;
  baseDir: string;
  base: string;
  taskId: string;
  /** Author of commits that we make. */
  identity: Identity;
  /** What setup and copies had made before the agent began: left out where it is still the same. */
  preexisting?: Readonly<Record<string, Entry>>;
  /** Paths of submodules that were checked out before the agent began. */
  submodules?: ReadonlySet<string>;
}

const EMPTIED = '.: nothing is left, neither files nor the repository';

/** The agent's tree as we read it, as a commit of ours or of its own. Idempotent while the tree stays the same. */
export async function captureResult(capture: CaptureResult): Promise<ResultTree> {
  const { tree, resultDir, baseDir, base, preexisting, submodules } = capture;
  const format = formatOf(base);

  // 1. a repository that the agent has never seen; what stands where the worktree was would lead elsewhere
  if (!lstatSync(tree, { throwIfNoEntry: false })?.isDirectory()) rmSync(tree, { force: true });
  await removeBusyTree(resultDir);
  initGitDir({ dir: resultDir, format, head: 'ref: refs/heads/result', bare: true, borrow: baseDir });
  const baseTree = await treeEntries(baseDir, base);

  // 2. its own commits, where they are sound
  const carried = await carryCommits({ tree, resultDir, baseDir, base, baseTree });
  const none = { head: base, tree: '', files: baseTree, commits: [] };
  const kept: Exclude<Carried, { odd: string }> = 'odd' in carried ? none : carried;

  // 3. the files themselves; what the base or the head tracks is never ignored
  const before = { ...(preexisting ? { preexisting } : {}), ...(submodules ? { submodules } : {}) };
  const walk = { tree, base: baseTree, format, ...before };
  let walked = await walkTree(walk);
  let headTree = baseTree;
  let entries = withoutPreexisting(walked.entries, headTree, preexisting);
  let changes = compare(baseTree.entries, entries);
  let left = changes;
  let built = build({ entries, head: headTree, left, format });
  if (kept.head !== base && built.id === kept.tree) left = [];
  else if (kept.head !== base) {
    headTree = kept.files;
    walked = await walkTree({ ...walk, known: [headTree] });
    entries = withoutPreexisting(walked.entries, headTree, preexisting);
    changes = compare(baseTree.entries, entries);
    left = compare(headTree.entries, entries);
    built = build({ entries, head: headTree, left, format });
  }

  const { violations } = walked;
  if ('odd' in carried && violations.length === 0 && entries.size === 0 && baseTree.entries.size > 0)
    violations.push(EMPTIED);

  // 4. objects, and a commit of ours where the agent left something uncommitted
  const to = { gitDir: resultDir, format };
  let commit = kept.head;
  let refused: string[] = [];
  if (left.length > 0) {
    await writeBlobs({ tree, to, left, entries });
    for (const object of built.objects) writeLoose(to, 'tree', object);
    const message = messageFor(capture.taskId, kept.commits.length > 0, 'odd' in carried ? carried.odd : null);
    const seconds = Math.floor(Date.now() / 1000);
    const body = commitObject({ tree: built.id, parents: [kept.head], identity: capture.identity, seconds, message });
    commit = writeLoose(to, 'commit', body);
    if (violations.length === 0)
      refused = await checkResult({ gitDir: resultDir, commit, head: kept.head, left, entries });
  }
  writeRef(resultDir, 'refs/heads/head', kept.head);
  writeRef(resultDir, 'refs/heads/result', commit);
  return {
    gitDir: resultDir,
    base,
    commit,
    tree: left.length === 0 && kept.tree ? kept.tree : built.id,
    changes,
    commits: kept.commits,
    leftUncommitted: left.length,
    odd: 'odd' in carried ? carried.odd : null,
    violations: [...violations, ...refused],
    twins: newTwins({ base: baseTree.entries.keys(), after: entries.keys(), added: added(changes) }),
  };
}

/** Changes from one set of files to another, by path. */
export function compare(from: ReadonlyMap<string, Entry>, to: ReadonlyMap<string, Entry>): Change[] {
  const changes: Change[] = [];
  for (const [path, entry] of to) {
    const old = from.get(path);
    if (!old) changes.push({ path, kind: 'added' });
    else if (!same(old, entry)) changes.push({ path, kind: kindOf(old, entry) });
  }
  for (const path of from.keys()) if (!to.has(path)) changes.push({ path, kind: 'deleted' });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

const added = (changes: readonly Change[]): string[] =>
  changes.flatMap(({ path, kind }) => (kind === 'added' ? path : []));

function kindOf(old: Entry, entry: Entry): Change['kind'] {
  if (old.mode.slice(0, 3) !== entry.mode.slice(0, 3)) return 'type';
  return old.id === entry.id ? 'mode' : 'modified';
}

/** Untouched leftovers of setup count as what the head has there: its own file, or nothing. Unchanged files keep their old entry. */
function withoutPreexisting(
  walked: ReadonlyMap<string, Entry>,
  head: Tree,
  preexisting: CaptureResult['preexisting'],
): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [path, entry] of walked) {
    const old = head.entries.get(path);
    const untouched = same(old, entry) || same(own(preexisting, path), entry);
    if (!untouched) entries.set(path, entry);
    else if (old) entries.set(path, old);
  }
  return entries;
}

async function writeBlobs(write: {
  tree: string;
  to: ObjectStore;
  left: readonly Change[];
  entries: ReadonlyMap<string, Entry>;
}): Promise<void> {
  let sliceEnd = performance.now() + SLICE_MS;
  for (const { path } of write.left) {
    if (performance.now() > sliceEnd) {
      await new Promise((resolve) => setImmediate(resolve));
      sliceEnd = performance.now() + SLICE_MS;
    }
    const entry = write.entries.get(path);
    if (!entry || entry.mode === '160000') continue;
    const file = Buffer.concat([
      Buffer.from(`${write.tree}/`),
      entry.bin === undefined ? Buffer.from(path) : Buffer.from(entry.bin, 'latin1'),
    ]);
    const { size } = lstatSync(file);
    await writeBlobFile(write.to, {
      path: file,
      size,
      id: entry.id,
      link: entry.mode === '120000',
    });
  }
}

function build(made: {
  entries: ReadonlyMap<string, Entry>;
  head: Tree;
  left: readonly Change[];
  format: ObjectFormat;
}): ReturnType<typeof buildTree> {
  const { entries, head, format } = made;
  return buildTree({ entries, base: head, changed: made.left.map(({ path }) => bytes(path, entries, head)), format });
}

function bytes(path: string, entries: ReadonlyMap<string, Entry>, head: Tree): string {
  return binaryPath(path, entries.get(path) ?? head.entries.get(path) ?? { mode: '', id: '' });
}

function messageFor(taskId: string, onTop: boolean, odd: string | null): string {
  const subject = onTop ? 'Changes left uncommitted by the agent' : `Changes by the agent for ${taskId}`;
  return `${subject}\n\n${odd ? `Its own history is not kept: ${odd.replace(/\s+/g, ' ')}.\n\n` : ''}Fleet-Task: ${taskId}\n`;
}
