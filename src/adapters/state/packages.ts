import { lstat, mkdir, readFile, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { delimiter, join, posix } from 'node:path';
import { execa } from 'execa';
import { hasWorkspaces, isPlainNpmrc, readLock, restOf, type NpmInstall } from '../../domain/repository/npm-install.ts';
import { removeTree } from '../disk/remove-tree.ts';
import { sha256 } from '../sha256.ts';
import { discard, names } from './retained-tasks.ts';

/** What an install makes of a tree, and of what. */
export interface Packages {
  /** The same for the same packages, made by the same programs: a SHA-256, hex. */
  key: string;
  /** The project's folder, from the tree's top. */
  folder: string;
  /** Folders of the project and its workspaces, from the tree's top. */
  projects: string[];
  /** All that they are made of: text by path from the tree's top. */
  files: ReadonlyMap<string, string>;
  /** Commands to run in the project's folder once they lie in the tree. */
  rest: string[];
}

/** Where packages are made: nothing but {@link Packages.files} is in its tree. */
export interface InstallFolders {
  dir: string;
  tree: string;
  home: string;
  tmp: string;
}

/** Of what a tree says of its packages: whoever wrote it may be no friend of this process. */
const BYTES_MAX = 32 * 1024 * 1024;
const PROJECTS_MAX = 1_000;
const LOCKS = ['npm-shrinkwrap.json', 'package-lock.json'];
const CACHE = '.npm/_cacache';
/** Milliseconds for which packages that could not be made are not tried again. */
const FAILED_MS = 10 * 60_000;
const KEPT = 4;
const KEPT_MS = 7 * 24 * 60 * 60_000;
/** Milliseconds in which whoever was given a folder has begun to copy it. */
const YOUNG_MS = 10 * 60_000;
const MAKING = '.making-';

/**
 * What an install depends on, as it stands in a tree in which nothing runs. Undefined: on more than its lock file and manifests, or
 * something stands where it would put packages.
 */
export async function readPackages(tree: string, install: NpmInstall, path: string): Promise<Packages | undefined> {
  const top = await realpath(tree);
  let left = BYTES_MAX;
  const read = async (file: string) => {
    const text = await plainText(join(top, file), left);
    left -= text?.length ?? 0;
    return text;
  };
  const at = (folder: string, name: string) => posix.join(install.folder, folder, name);
  for (let above = install.folder; above !== '';) {
    above = posix.dirname(above).replace(/^\.$/, '');
    if (hasWorkspaces((await read(posix.join(above, 'package.json'))) ?? '')) return undefined;
  }
  const files = new Map<string, string>();
  for (const name of [...LOCKS, '.npmrc']) {
    const text = await read(at('', name));
    if (text === null) return undefined;
    if (text !== undefined && (name === '.npmrc' || files.size === 0)) files.set(at('', name), text);
  }
  const lock = LOCKS.map((name) => files.get(at('', name))).find((text) => text !== undefined);
  const locked = lock === undefined ? undefined : readLock(lock, process.platform);
  if (!locked || locked.projects.length > PROJECTS_MAX || !isPlainNpmrc(files.get(at('', '.npmrc')) ?? ''))
    return undefined;
  const manifests = new Map<string, string>();
  for (const folder of locked.projects) {
    const text = await read(at(folder, 'package.json'));
    const isBare = !(await isThere(join(top, at(folder, 'node_modules'))));
    const builds = await isThere(join(top, at(folder, 'binding.gyp')));
    if (typeof text !== 'string' || !isBare || builds) return undefined;
    manifests.set(folder, text);
    files.set(at(folder, 'package.json'), text);
  }
  const rest = restOf(install, locked, manifests);
  const programs = await Promise.all(['node', 'npm'].map((name) => identityOf(name, path)));
  if (!rest || programs.includes(undefined)) return undefined;
  const key = sha256(JSON.stringify([process.platform, process.arch, programs, install, [...files]]));
  return { key, folder: install.folder, projects: locked.projects.map((one) => at(one, '')), files, rest };
}

/** Under way or failed in this process, by folder. */
const making = new Map<string, Promise<string | undefined>>();
const failed = new Map<string, number>();

/**
 * The folder that holds packages, made where it is not there yet; whoever comes meanwhile waits for it. Undefined: they cannot be
 * made, now or some minutes ago. Trees get copies of it, so that no run changes what another finds.
 * @param make installs them in the tree; false: it could not
 */
export function keepPackages(
  store: string,
  packages: Packages,
  make: (at: InstallFolders) => Promise<boolean>,
): Promise<string | undefined> {
  const kept = join(store, packages.key);
  const under = making.get(kept);
  // Another's run may be cancelled.
  if (under) return under.catch(() => undefined);
  const made = findOrMake(kept, packages, make).finally(() => making.delete(kept));
  making.set(kept, made);
  return made;
}

async function findOrMake(
  kept: string,
  { files, projects }: Packages,
  make: (at: InstallFolders) => Promise<boolean>,
): Promise<string | undefined> {
  const now = new Date();
  const isKept = await utimes(kept, now, now).then(
    () => true,
    () => false,
  );
  if (isKept) return kept;
  if (now.getTime() - (failed.get(kept) ?? 0) < FAILED_MS) return undefined;
  const dir = `${kept}${MAKING}${randomUUID()}`;
  const at = { dir, tree: `${dir}/tree`, home: `${dir}/home`, tmp: `${dir}/tmp` };
  try {
    for (const folder of [at.tree, at.home, at.tmp, ...projects.map((one) => join(at.tree, one))])
      await mkdir(folder, { recursive: true });
    for (const [path, text] of files) await writeFile(join(at.tree, path), text);
    if (!(await make(at))) {
      failed.set(kept, Date.now());
      return undefined;
    }
    // Settings may hold a key, and nobody needs them any more.
    for (const path of files.keys()) await rm(join(at.tree, path));
    await rm(at.tmp, { recursive: true });
    // A machine that goes down must leave none of its files empty under the name by which they are trusted.
    await execa('sync', process.platform === 'linux' ? ['-f', dir] : [], SYSTEM);
    await rename(dir, kept);
    return kept;
  } finally {
    await removeTree(dir);
  }
}

/**
 * Copies kept packages into a tree in which nothing runs, and what npm has fetched for them into its HOME. False: they do not lie
 * there, and neither does a part of them.
 */
export async function layPackages(
  kept: string,
  { projects }: Packages,
  to: { tree: string; home: string; signal: AbortSignal },
): Promise<boolean> {
  const [top, whole] = await Promise.all([realpath(to.tree), realpath(kept)]);
  const found: { from: string; target: string }[] = [];
  for (const project of projects) {
    const from = join(whole, 'tree', project, 'node_modules');
    if ((await realpath(from).catch(() => undefined)) !== from) continue;
    const folder = join(top, project);
    // Whoever has changed the tree since may have put a link there.
    if ((await realpath(folder).catch(() => undefined)) !== folder) return false;
    found.push({ from, target: join(folder, 'node_modules') });
  }
  const npm = join(to.home, '.npm');
  const cache = { from: join(kept, 'home', CACHE), target: join(to.home, CACHE) };
  if ((await isThere(cache.from)) && !(await isThere(npm))) {
    await mkdir(npm);
    found.push(cache);
  }
  // Whole or not at all, also where this process is killed: npm believes what a folder says of itself.
  const aside = join(to.home, `.packages-${randomUUID()}`);
  await mkdir(aside);
  try {
    const copies = found.map(({ from, target }, i) => ({ from, target, copy: join(aside, `${i}`) }));
    for (const { from, copy } of copies)
      await execa('cp', [...COPY, from, copy], { ...SYSTEM, cancelSignal: to.signal });
    for (const { copy, target } of copies) await rename(copy, target);
    return copies.length > 0;
  } catch {
    await Promise.all(found.map(({ target }) => removeTree(target)));
    to.signal.throwIfAborted();
    return false;
  } finally {
    await removeTree(aside);
  }
}

/** Those that are kept, by when they were last laid out. */
export async function keptPackages(store: string): Promise<{ path: string; key: string; usedAt: number }[]> {
  const found = (await names(store)).filter((name) => !name.includes(MAKING) && !name.startsWith('.'));
  return Promise.all(
    found.map(async (key) => {
      const path = join(store, key);
      return { path, key, usedAt: (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now() };
    }),
  );
}

/** Removes what was not laid out for a week, all but the last four, and what a killed process left half made. */
export async function releasePackages(store: string): Promise<void> {
  const under = new Set([...making.keys()]);
  const left = (await names(store)).filter((name) => name.includes(MAKING));
  const torn = left.filter((name) => !under.has(join(store, name.slice(0, name.indexOf(MAKING)))));
  const kept = (await keptPackages(store)).toSorted((a, b) => b.usedAt - a.usedAt);
  const now = Date.now();
  const old = kept.filter(({ usedAt }, i) => now - usedAt > KEPT_MS || (i >= KEPT && now - usedAt > YOUNG_MS));
  for (const { path } of old) await discard(join(store, '.trash'), path);
  await Promise.all(torn.map((name) => removeTree(join(store, name))));
}

const SYSTEM = { env: { PATH: '/usr/bin:/bin' }, extendEnv: false, stdin: 'ignore', stdout: 'ignore' } as const;
/** Where the file system can, both share their blocks until one is written to. */
const COPY = process.platform === 'darwin' ? ['-Rpc'] : ['-a', '--reflink=auto', '--'];

/** Through no link. Undefined: it is not there; null: it is none, or too long. */
async function plainText(file: string, max: number): Promise<string | null | undefined> {
  const found = await lstat(file).catch(() => undefined);
  if (!found) return undefined;
  const real = await realpath(file).catch(() => undefined);
  return found.isFile() && real === file && found.size <= max ? readFile(file, 'utf8') : null;
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Which program a name stands for in a PATH; undefined: none. */
async function identityOf(name: string, path: string): Promise<string | undefined> {
  for (const dir of path.split(delimiter)) {
    const file = await realpath(join(dir, name)).catch(() => undefined);
    const found = file === undefined ? undefined : await stat(file).catch(() => undefined);
    if (found?.isFile()) return `${file} ${found.ino} ${found.size} ${found.mtimeMs}`;
  }
  return undefined;
}
