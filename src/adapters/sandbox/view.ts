import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { real, within } from '../paths.ts';
import type { IsolationPlan, Named } from './plan.ts';
import { toolFolders } from './tool-folders.ts';

/** One of bwrap's mounts, `source` at `path`; an empty folder that is read-only at the end; or a link. */
interface Mount {
  path: string;
  as: '--bind' | '--ro-bind' | '--tmpfs' | '--symlink';
  source?: string;
}

/** Where programs leave files for others. */
const SHARED = ['/tmp', '/var/tmp'];
/** Folders that stand for what lies in them: nobody who names one means all of it. */
const BROAD = ['/', '/home', '/root', '/tmp', '/var', '/var/tmp', '/run', '/dev', '/proc', '/sys', '/mnt', '/media'];

/**
 * bwrap's arguments for what the tree sees and writes: nothing but what is named here, by its path and by where that leads. The
 * most specific path decides. @throws where a shown folder is missing
 */
export function viewArgs(plan: IsolationPlan, named: Named): string[] {
  const home = realpathSync(plan.home);
  const tools = toolFolders(named).filter((path) => !BROAD.includes(path));
  const seen: Mount[] = [
    ...[...tools, ...(plan.read ?? [])].flatMap((path) => mountsOf(path, '--ro-bind')),
    ...(plan.write ?? []).flatMap((path) => mountsOf(path, '--bind')),
  ];
  const hide = real(plan.hide ?? []).filter((path) => seen.some((one) => within(one.path, path)));
  const mounts: Mount[] = [
    ...seen,
    ...[...hide, home].map((path): Mount => ({ path, as: '--tmpfs' })),
    ...shownFolders(plan, home),
    ...ownTmp(plan, home),
  ];
  const { kept, hidden } = layered(mounts);
  for (const { path } of kept) clearWay(path, kept);
  const kernel = [
    '--dev',
    '/dev',
    '--tmpfs',
    '/dev/shm',
    '--remount-ro',
    '/dev',
    '--proc',
    '/proc',
    ...kernelSettings(),
  ];
  const args = kept.map(({ as, source, path }) => (source === undefined ? [as, path] : [as, source, path]));
  const folders = ['/run', '/var/tmp', '/tmp'].flatMap((path) => ['--dir', path]);
  return [...folders, ...kernel, ...args.flat(), ...[...hidden, '/'].flatMap((path) => ['--remount-ro', path])];
}

/** A path as it is written, and where it leads. Nothing for one that is not there. */
function mountsOf(path: string, as: '--bind' | '--ro-bind'): Mount[] {
  if (!existsSync(path)) return [];
  const target = realpathSync(path);
  const at: Mount[] = [{ path: target, as, source: target }];
  if (target === path) return at;
  // A link of the system's own, such as /bin; another one on the way is a folder inside.
  const link =
    realpathSync(dirname(path)) === dirname(path) && isLink(path) && !SHARED.some((tmp) => within(tmp, path));
  return [...at, link ? { path, as: '--symlink', source: readlinkSync(path) } : { path, as, source: target }];
}

/** Removes a link that an earlier tree left in its own /tmp where something is to be mounted. */
function clearWay(path: string, mounts: readonly Mount[]): void {
  for (const { path: shared, source } of mounts.filter((one) => SHARED.includes(one.path) && one.path !== path)) {
    if (!within(shared, path)) continue;
    const first = `${source}/${relative(shared, path).split('/')[0]}`;
    if (isLink(first)) rmSync(first);
  }
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

/** Each path once, the last one's way; outermost first; without those that only repeat what they lie in. */
function layered(mounts: readonly Mount[]): { kept: Mount[]; hidden: string[] } {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]));
  const kept: Mount[] = [];
  for (const mount of [...byPath.values()].toSorted((a, b) => a.path.length - b.path.length)) {
    const around = kept.findLast((one) => one.as !== '--symlink' && within(one.path, mount.path));
    const there = around !== undefined && around.source === around.path;
    // The link, or the folder, is there with what it lies in.
    if (there && (mount.as === '--symlink' || (around.as === mount.as && mount.source === mount.path))) continue;
    kept.push(mount);
  }
  return { kept, hidden: kept.flatMap(({ as, path }) => (as === '--tmpfs' ? [path] : [])) };
}

/** Root owns the kernel's settings, whatever capabilities it has dropped. Below `user`, a capability decides. */
function kernelSettings(): string[] {
  if (process.getuid!() !== 0) return [];
  const folders = readdirSync('/proc/sys').filter((name) => name !== 'user');
  return folders.flatMap((name) => ['--ro-bind', `/proc/sys/${name}`, `/proc/sys/${name}`]);
}

/** A folder of the plan in place of the shared ones, made anew where setup commands left something else there. */
function ownTmp({ tmp, home: given }: IsolationPlan, home: string): Mount[] {
  if (tmp === undefined) return [];
  const source = `${home}/${relative(given, tmp)}`;
  if (existsSync(source) && (realpathSync(source) !== source || !lstatSync(source).isDirectory())) rmSync(source);
  mkdirSync(source, { recursive: true });
  return real(SHARED).map((path) => ({ path, source, as: '--bind' as const }));
}

function shownFolders(plan: IsolationPlan, home: string): Mount[] {
  const show = plan.show.map(({ path, readOnly = false }) => ({ path: realpathSync(path), readOnly }));
  const stray = show.find(({ path }) => !within(home, path) || path === home);
  if (stray) throw new Error(`${stray.path} is not inside ${home}`);
  return show.map(({ path, readOnly }) => ({ path, source: path, as: readOnly ? '--ro-bind' : '--bind' }));
}
