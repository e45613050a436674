import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { cgroupMounts } from '../cgroup-parents.ts';
import { real, within } from '../paths.ts';
import type { IsolationPlan, Named } from './plan.ts';

/** One of bwrap's mounts: `source` at `path`, with all that is mounted below it; or an empty folder that is read-only at the end. */
type Mount = { path: string; as: '--bind' | '--ro-bind'; source: string } | { path: string; as: '--tmpfs' };

/** Where programs leave files for others. */
const SHARED = ['/tmp', '/var/tmp'];

/** bwrap's arguments for what the tree sees and writes. The most specific path decides. @throws where a shown folder is missing */
export function viewArgs(plan: IsolationPlan, named: Named): string[] {
  const home = realpathSync(plan.home);
  const show = shownFolders(plan, home);
  const readOnly = real([...plan.readOnly, ...cgroupMounts()]);
  const writable = plan.sealed ? [] : real(plan.writable ?? []);
  const hidden = real(plan.hide ?? []).filter((path) => !within(home, path) && !within(path, home));
  const needed = [home, realpathSync(named.cwd), ...readOnly, ...real(plan.writable ?? [])];
  const outside = (path: string) => !within(home, path);
  const shownAt = (path: string) => show.some((one) => one.path !== path && within(one.path, path));
  const mounts = [
    bind('/', !plan.sealed),
    ...privateTmp(plan, { home, needed, named }),
    ...writable.filter(outside).map((path) => bind(path, true)),
    ...readOnly.filter((path) => outside(path) && !SHARED.includes(path)).map((path) => bind(path, false)),
    ...[...hidden, home].map((path): Mount => ({ path, as: '--tmpfs' })),
    ...show.map((one) => bind(one.path, !one.readOnly && !readOnly.includes(one.path))),
    ...readOnly.filter(shownAt).map((path) => bind(path, false)),
  ];
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
  const [root = [], ...rest] = layered(mounts).map((mount) =>
    mount.as === '--tmpfs' ? [mount.as, mount.path] : [mount.as, mount.source, mount.path],
  );
  return [...root, ...kernel, ...rest.flat(), ...[...hidden, home].flatMap((path) => ['--remount-ro', path])];
}

const bind = (path: string, write: boolean): Mount => ({ path, source: path, as: write ? '--bind' : '--ro-bind' });

/** Each path once, the last one's way; outermost first; without those that only repeat what they lie in. */
function layered(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]));
  const kept: Mount[] = [];
  for (const mount of [...byPath.values()].toSorted((a, b) => a.path.length - b.path.length)) {
    const around = kept.findLast((one) => within(one.path, mount.path));
    const repeats = around?.as === mount.as && 'source' in around && around.source === around.path;
    if (!repeats || mount.as === '--tmpfs' || mount.source !== mount.path) kept.push(mount);
  }
  return kept;
}

/** Root owns the kernel's settings, whatever capabilities it has dropped. Below `user`, a capability decides. */
function kernelSettings(): string[] {
  if (process.getuid!() !== 0) return [];
  const folders = readdirSync('/proc/sys').filter((name) => name !== 'user');
  return folders.flatMap((name) => ['--ro-bind', `/proc/sys/${name}`, `/proc/sys/${name}`]);
}

/** A folder of the plan in place of the shared ones, with those entries of theirs that are needed. */
function privateTmp(plan: IsolationPlan, about: { home: string; needed: string[]; named: Named }): Mount[] {
  if (plan.tmp === undefined) return [];
  const source = ownTmp(plan.tmp, { home: about.home, given: plan.home });
  return real(SHARED)
    .filter((path) => path !== about.home)
    .flatMap((path) => {
      const entries = neededIn(path, about);
      for (const name of entries) if (isLink(`${source}/${name}`)) rmSync(`${source}/${name}`);
      return [{ path, source, as: '--bind' as const }, ...entries.map((name) => bind(`${path}/${name}`, !plan.sealed))];
    });
}

/** Made anew where setup commands left something else there. */
function ownTmp(tmp: string, { home, given }: { home: string; given: string }): string {
  const path = `${home}/${relative(given, tmp)}`;
  if (existsSync(path) && (realpathSync(path) !== path || !lstatSync(path).isDirectory())) rmSync(path);
  mkdirSync(path, { recursive: true });
  return path;
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

function shownFolders(plan: IsolationPlan, home: string): { path: string; readOnly: boolean }[] {
  const show = plan.show.map(({ path, readOnly = false }) => ({ path: realpathSync(path), readOnly }));
  const stray = show.find(({ path }) => !within(home, path) || path === home);
  if (stray) throw new Error(`${stray.path} is not inside ${home}`);
  return show;
}

/** First names below a shared folder that lead to what is needed, or that a command or its environment speaks of. */
function neededIn(folder: string, { needed, named }: { needed: readonly string[]; named: Named }): string[] {
  const names = needed
    .filter((path) => path !== folder && within(folder, path))
    .map((path) => relative(folder, path).split('/')[0]!);
  const texts = [...named.argv, ...Object.values(named.env ?? {})].filter((text) => text.includes(`${folder}/`));
  for (const text of texts)
    for (const part of text.split(`${folder}/`).slice(1)) names.push(/^[^/\s'":;,)]*/.exec(part)![0]);
  return [...new Set(names)].filter(
    (name) => name !== '' && name !== '.' && name !== '..' && existsSync(`${folder}/${name}`),
  );
}
