import { binaryPath, type Entry, type Tree } from '../entries.ts';
import type { ObjectFormat } from '../init.ts';
import { hashObject } from '../objects.ts';

type Children = Map<string, { mode: string; id: string }>;

const FOLDER = '40000';

/**
 * The tree of a set of files, as git would make it. Folders without a changed path keep the id they have in `base`; the
 * objects of all others come back to be stored. `changed` are paths in bytes (latin1), as {@link binaryPath} gives them.
 */
export function buildTree(build: {
  entries: ReadonlyMap<string, Entry>;
  base: Tree;
  changed: Iterable<string>;
  format: ObjectFormat;
}): { id: string; objects: Buffer[] } {
  const dirty = new Map<string, Children>([['', new Map()]]);
  for (const path of build.changed)
    for (let dir = parent(path); dir !== ''; dir = parent(dir)) dirty.set(dir, new Map());
  for (const [path, entry] of build.entries) {
    let at = binaryPath(path, entry);
    let child = { mode: entry.mode, id: entry.id };
    while (!dirty.has(parent(at))) {
      at = parent(at);
      child = { mode: FOLDER, id: build.base.folders.get(at) ?? '' };
    }
    dirty.get(parent(at))?.set(last(at), child);
  }
  const objects: Buffer[] = [];
  let id = '';
  for (const [dir, children] of [...dirty].sort(([a], [b]) => depth(b) - depth(a))) {
    if (children.size === 0 && dir !== '') continue;
    const body = treeObject(children);
    id = hashObject(build.format, 'tree', body);
    objects.push(body);
    if (dir !== '') dirty.get(parent(dir))?.set(last(dir), { mode: FOLDER, id });
  }
  return { id, objects };
}

function treeObject(children: Children): Buffer {
  const keyed = [...children].map(([name, child]) => ({ name, child, key: child.mode === FOLDER ? `${name}/` : name }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  return Buffer.concat(
    keyed.flatMap(({ name, child }) => [
      Buffer.from(`${child.mode} ${name}\0`, 'latin1'),
      Buffer.from(child.id, 'hex'),
    ]),
  );
}

const parent = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
const last = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const depth = (path: string): number => (path === '' ? 0 : path.split('/').length);
