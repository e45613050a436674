import type { Change } from '../../../ports.ts';
import { buildTree } from '../capture/build-tree.ts';
import type { AsInBase } from './checkout.ts';
import { binaryPath, same, treeEntries, type Entry } from '../entries.ts';
import { formatOf, writeRef, type Identity } from '../init.ts';
import { commitObject, writeLoose } from '../objects.ts';
import { compare } from '../capture/result.ts';

export interface Restored {
  /** On top of the one that it was made for. */
  commit: string;
  tree: string;
  /** From the base to it. */
  changes: Change[];
  /** What it puts back, or takes away again. */
  restored: string[];
}

/** A commit that has those paths as the base has them, on top of another one; undefined where that has them so. Runs nothing. */
export async function restoreOnTop(order: {
  /** A repository of ours that has both. */
  gitDir: string;
  base: string;
  commit: string;
  asInBase: AsInBase;
  taskId: string;
  identity: Identity;
}): Promise<Restored | undefined> {
  const { gitDir, base, commit, asInBase, taskId, identity } = order;
  const from = await treeEntries(gitDir, base);
  const to = await treeEntries(gitDir, commit);
  const back = [...from.entries].filter(
    ([path, entry]) => asInBase.changed(path) && !same(entry, to.entries.get(path)),
  );
  const extra = [...to.entries.keys()].filter((path) => !from.entries.has(path) && asInBase.added(path));
  if (back.length + extra.length === 0) return undefined;

  const entries = new Map(to.entries);
  for (const path of [...extra, ...inTheWay(entries, back)]) entries.delete(path);
  for (const [path, entry] of back) entries.set(path, entry);

  const format = formatOf(base);
  const restored = compare(to.entries, entries).map(({ path }) => path);
  const changed = restored.map((path) => binaryPath(path, to.entries.get(path) ?? entries.get(path)!));
  const built = buildTree({ entries, base: to, changed, format });
  for (const object of built.objects) writeLoose({ gitDir, format }, 'tree', object);
  const seconds = Math.floor(Date.now() / 1000);
  const body = commitObject({
    ...{ tree: built.id, parents: [commit], identity, seconds, message: messageFor(taskId, restored) },
  });
  const id = writeLoose({ gitDir, format }, 'commit', body);
  writeRef(gitDir, 'refs/heads/restored', id);
  return { commit: id, tree: built.id, changes: compare(from.entries, entries), restored };
}

/** Files where a folder has to be again, and what lies in folders where a file has to be. */
function inTheWay(entries: ReadonlyMap<string, Entry>, back: readonly (readonly [string, Entry])[]): string[] {
  const wanted = new Set(back.map(([path, entry]) => binaryPath(path, entry)));
  const folders = new Set([...wanted].flatMap(foldersOf));
  return [...entries].flatMap(([path, entry]) => {
    const at = binaryPath(path, entry);
    return folders.has(at) || foldersOf(at).some((folder) => wanted.has(folder)) ? path : [];
  });
}

const foldersOf = (path: string): string[] => {
  const parts = path.split('/');
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('/'));
};

const SHOWN = 20;

function messageFor(taskId: string, paths: readonly string[]): string {
  const shown = paths.slice(0, SHOWN).map((path) => `- ${path.replace(/\p{Cc}/gu, ' ').slice(0, 200)}`);
  const more = paths.length > SHOWN ? [`- and ${paths.length - SHOWN} more`] : [];
  const subject = paths.length === 1 ? 'Restore a protected file' : `Restore ${paths.length} protected files`;
  const why = 'As on the base: the task names no scope.allow that lets them be changed.';
  return `${subject}\n\n${why}\n\n${[...shown, ...more].join('\n')}\n\nFleet-Task: ${taskId}\n`;
}
