import { readdirSync, type Dirent } from 'node:fs';
import { decodePath, same, treeEntries, type Entry, type Tree } from '../entries.ts';
import { isIgnored, parseIgnore, type IgnoreFile } from './ignore-rules.ts';
import { formatOf, type ObjectFormat } from '../init.ts';
import { isGitName, linkLeaves } from '../safe-links.ts';
import { attempt, readFileEntry, readLinkEntry, readText, refuse, type Place, type Reader } from '../read-entry.ts';

export interface WalkTree {
  /** Absolute; nothing in it may still be running. */
  tree: string;
  base: Tree;
  format: ObjectFormat;
  /** More trees whose paths are never ignored; the last one tells the submodules' commits, else the base. */
  known?: readonly Tree[];
  /** Paths of submodules that are checked out: what lies in them is not walked. */
  submodules?: ReadonlySet<string>;
  /** Links and files that were there before the agent: no violations. */
  preexisting?: Readonly<Record<string, Entry>>;
  /** Nothing counts as ignored. */
  everything?: boolean;
  /** Names looked at, bytes of one file, bytes of all. */
  limits?: { names: number; fileBytes: number; bytes: number };
}

export interface Walked {
  /** Every file and link that is not ignored, hashed by us. */
  entries: Map<string, Entry>;
  /** One sentence each, with the path. */
  violations: string[];
}

interface Folder extends Place {
  /** Path from the top in bytes, as latin1. */
  bin: string;
  /** Some name on the way here is not UTF-8. */
  lossy: boolean;
  rules: readonly IgnoreFile[];
  /** Ignored itself, entered only for what is known below it. */
  ignored: boolean;
}

interface Name {
  text: string;
  bin: string;
  lossy: boolean;
  type: Dirent<string> | Dirent<Buffer>;
}

/** How long synchronous work may hold up everything else. */
export const SLICE_MS = 8;
const LIMITS = { names: 500_000, fileBytes: 1024 ** 3, bytes: 16 * 1024 ** 3 };

/**
 * Reads a dead agent's tree without git: every name listed, every byte hashed, no link followed, no index or stat
 * believed. Works synchronously in slices of some milliseconds: a fraction of the CPU time of as many promises.
 */
export async function walkTree(walk: WalkTree): Promise<Walked> {
  const limits = walk.limits ?? LIMITS;
  const reader: Reader = {
    ...{ format: walk.format, violations: [], buffer: Buffer.allocUnsafe(1024 * 1024) },
    ...{ maxFileBytes: limits.fileBytes, budget: limits.bytes },
  };
  const entries = new Map<string, Entry>();
  const trees = [walk.base, ...(walk.known ?? [])];
  const isKnown = knownTo(trees);
  const submodules = trees.at(-1)!;
  const todo: Folder[] = [{ path: '', raw: walk.tree, bin: '', lossy: false, rules: [], ignored: false }];
  let [seen, sliceEnd] = [0, performance.now() + SLICE_MS];

  for (let folder = todo.pop(); folder; folder = todo.pop()) {
    const names = list(reader, folder);
    const rules = walk.everything ? [] : withRules(reader, folder, names);
    for (const name of names) {
      if (folder.path === '' && name.text === '.git') continue;
      const at = below(folder, name);
      const isFolder = name.type.isDirectory();
      seen += 1;
      if (isGitName(name.text)) refuse(reader, at, 'a nested git repository');
      else {
        at.ignored ||= isIgnored(rules, at.bin, isFolder);
        if (at.ignored && !isKnown(at, isFolder)) continue;
        if (isFolder && !isSubmodule(reader, { walk, tree: submodules }, at)) todo.push({ ...at, rules });
        else {
          const entry = isFolder
            ? submodules.entries.get(at.path)
            : await readEntry(walk, reader, { ...at, dir: folder.path, type: name.type });
          if (entry) entries.set(at.path, at.lossy ? { ...entry, bin: at.bin } : entry);
        }
      }
      if (performance.now() < sliceEnd) continue;
      await new Promise((resolve) => setImmediate(resolve));
      sliceEnd = performance.now() + SLICE_MS;
    }
    if (seen > limits.names) {
      refuse(reader, folder, `more than ${limits.names} files and folders`);
      break;
    }
  }
  return { entries, violations: reader.violations };
}

/** What differs from the base before the agent begins, by path: `preexisting` of {@link walkTree}. */
export async function snapshotUntracked(snapshot: {
  tree: string;
  baseDir: string;
  base: string;
  submodules?: ReadonlySet<string>;
}): Promise<Record<string, Entry>> {
  const { tree, submodules } = snapshot;
  const base = await treeEntries(snapshot.baseDir, snapshot.base);
  const { entries } = await walkTree({
    ...{ tree, base, format: formatOf(snapshot.base), ...(submodules ? { submodules } : {}) },
  });
  return Object.fromEntries([...entries].filter(([path, entry]) => !same(base.entries.get(path), entry)));
}

/** What stands under a path that may be called `constructor`. */
export const own = (entries: Readonly<Record<string, Entry>> | undefined, path: string): Entry | undefined =>
  entries && Object.hasOwn(entries, path) ? entries[path] : undefined;

async function readEntry(
  walk: WalkTree,
  reader: Reader,
  at: Place & { dir: string; type: Name['type'] },
): Promise<Entry | undefined> {
  if (at.type.isFile()) return readFileEntry(reader, at);
  if (!at.type.isSymbolicLink()) return refuse(reader, at, 'a special file');
  const link = readLinkEntry(reader, at);
  if (!link) return undefined;
  const old = same(walk.base.entries.get(at.path), link.entry) || same(own(walk.preexisting, at.path), link.entry);
  if (!old && linkLeaves(walk.tree, { dir: at.dir, target: link.target }))
    refuse(reader, at, 'a link that leaves the tree');
  if (!old && at.path.toLowerCase() === '.gitmodules') refuse(reader, at, 'a link in place of .gitmodules');
  return link.entry;
}

function list(reader: Reader, folder: Folder): Name[] {
  const names = attempt(reader, folder, () => {
    const plain = readdirSync(folder.raw, { withFileTypes: true });
    if (!plain.some((one) => one.name.includes('\ufffd')))
      return plain.map((type) => ({ text: type.name, bin: latin1(type.name), lossy: false, type }));
    return readdirSync(folder.raw, { withFileTypes: true, encoding: 'buffer' }).map((type) => {
      const { text, bin } = decodePath(type.name);
      return { text, bin: bin ?? latin1(text), lossy: bin !== undefined, type };
    });
  });
  return names ?? [];
}

function withRules(reader: Reader, folder: Folder, names: readonly Name[]): readonly IgnoreFile[] {
  const file = names.find((name) => name.text === '.gitignore' && name.type.isFile());
  if (!file || folder.ignored) return folder.rules;
  const text = readText(reader, below(folder, file));
  return text === undefined ? folder.rules : [...folder.rules, parseIgnore(folder.bin, text)];
}

function knownTo(trees: readonly Tree[]): (at: Folder, isFolder: boolean) => boolean {
  return (at, isFolder) => trees.some((tree) => tree.entries.has(at.path) || (isFolder && tree.folders.has(at.bin)));
}

/** A submodule is what the commit says while it was checked out by us, or its folder is empty: nothing ever was there. */
function isSubmodule(reader: Reader, { walk, tree }: { walk: WalkTree; tree: Tree }, at: Place): boolean {
  const link = tree.entries.get(at.path);
  if (link?.mode !== '160000') return false;
  const names = attempt(reader, at, () => readdirSync(at.raw));
  if (!walk.submodules?.has(at.path)) return names?.length === 0;
  // A clone in its place is how another commit is named; of the same commit it is of no use.
  if (names?.some(isGitName) && same(link, walk.base.entries.get(at.path)))
    refuse(reader, { path: `${at.path}/.git` }, 'a nested git repository');
  return true;
}

function below(folder: Folder, name: Name): Folder {
  return {
    path: folder.path ? `${folder.path}/${name.text}` : name.text,
    bin: folder.bin ? `${folder.bin}/${name.bin}` : name.bin,
    raw:
      typeof folder.raw === 'string' && !name.lossy
        ? `${folder.raw}/${name.text}`
        : Buffer.concat([Buffer.from(folder.raw), Buffer.from(`/${name.bin}`, 'latin1')]),
    lossy: folder.lossy || name.lossy,
    rules: folder.rules,
    ignored: folder.ignored,
  };
}

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
