import { existsSync, lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { cgroupMounts } from './cgroup-parents.ts';
import type { IsolationPlan } from './isolation.ts';
import { flagsAt, fstabLine, readMounts, real, within, type MountTable } from './mount-table.ts';

/** What an order names beside the folders of its plan: what of it lies in a private folder such as /tmp stays there. */
export interface Named {
  argv: readonly string[];
  cwd: string;
  env?: Readonly<Record<string, string>>;
}

/** Where programs leave files for others. */
const SHARED = ['/tmp', '/var/tmp', '/dev/shm'];
/** The kernel's: nothing there outlives the processes that use it. */
const KERNEL = ['/proc', '/dev/pts', '/dev/mqueue'];

/**
 * What `OUTER` in isolation.ts is to do, in order: pairs of a verb and what it is done to. Whatever becomes read-only does so
 * in one call of `mount` at the end, as a call each would take longer than all the rest.
 */
export function mountOperations(plan: IsolationPlan, named: Named): string[] {
  const table = readMounts();
  const home = realpathSync(plan.home);
  const show = shownFolders(plan, home);
  const ownTmp = plan.tmp === undefined ? [] : real(SHARED).filter((path) => path !== home);
  const writable = plan.sealed ? [] : real(plan.writable ?? []).filter((path) => !within(home, path));
  const hidden = real(plan.hide ?? []).filter((path) => !within(home, path) && !within(path, home));
  const sealed = outermost(real(plan.readOnly), [home, ...writable]).filter((path) => !ownTmp.includes(path));
  const inShown = sealed.filter((path) => show.some((shown) => within(shown.path, path)));
  const beside = plan.sealed ? [] : sealed.filter((path) => !within(home, path));

  // 1. Shared folders become the tree's own, apart from what is needed there.
  const needed = [home, realpathSync(named.cwd), ...sealed, ...real(plan.writable ?? [])];
  const kept = ownTmp.map((path) => ({ path, entries: neededIn(path, { needed, named }) }));

  // 2. What holds a folder that is handled apart is a mount of its own before that one; the rest is bound when it is sealed.
  const holding = beside.filter((path) =>
    [home, ...writable, ...table.keys()].some((inner) => inner !== path && within(path, inner)),
  );
  const apart = [...holding, ...writable.filter((path) => holding.some((folder) => within(folder, path)))]
    .filter((path) => !table.has(path))
    .toSorted((a, b) => a.length - b.length);

  // 3. What is to be read-only, the mounts in it too.
  const entries = kept.flatMap((one) => one.entries.map((name) => `${one.path}/${name}`));
  const left = (path: string) =>
    within(home, path) ||
    KERNEL.some((free) => within(free, path)) ||
    writable.some((free) => within(free, path) && !beside.some((one) => within(free, one) && within(one, path))) ||
    (ownTmp.some((free) => within(free, path)) && !entries.some((entry) => within(entry, path)));
  const roots = plan.sealed ? ['/'] : holding;
  const inside = [...table.keys()].filter(
    (path) => path !== '/' && roots.some((root) => within(root, path)) && !left(path),
  );
  const readOnlyShown = show.filter(({ readOnly }) => readOnly).map(({ path }) => path);
  const mounted = [...holding, ...beside.filter((path) => table.has(path)), ...cgroupMounts(), ...readOnlyShown];
  const remounted = new Set([...mounted, ...inside, ...(plan.sealed ? entries : [])]);
  const bound = [...beside, ...inShown].filter((path) => !remounted.has(path));
  return [
    ...kept.flatMap((one) => ['private', one.path, ...one.entries.flatMap((name) => ['keep', name])]),
    ...apart.flatMap((path) => ['bind', path]),
    ...[...hidden, home].flatMap((path) => ['hide', path]),
    ...show.flatMap(({ path }) => ['show', relative(home, path)]),
    ...[...remounted].flatMap((path) => ['line', fstabLine('none', path, remount(table, path))]),
    ...bound.flatMap((path) => ['line', fstabLine(path, path, `bind,ro${flagsAt(table, path)}`)]),
    ...['mount', home],
    ...[...mounted, ...bound].flatMap((path) => ['must', path]),
    ...['close', home],
    ...(plan.sealed ? ['root', remount(table, '/')] : []),
  ];
}

/** The folder that stands in for /tmp, relative to the home; made anew where setup commands left something else there. */
export function ownTmpOf({ home, tmp }: IsolationPlan): string {
  if (tmp === undefined) return '';
  const path = `${realpathSync(home)}/${relative(home, tmp)}`;
  if (existsSync(path) && (realpathSync(path) !== path || !lstatSync(path).isDirectory())) rmSync(path);
  mkdirSync(path, { recursive: true });
  return relative(realpathSync(home), path);
}

const remount = (table: MountTable, path: string): string => `remount,bind,ro${flagsAt(table, path)}`;

function shownFolders(plan: IsolationPlan, home: string): { path: string; readOnly: boolean }[] {
  const show = plan.show.map(({ path, readOnly = false }) => ({ path: realpathSync(path), readOnly }));
  const stray = show.find(({ path }) => !within(home, path) || path === home);
  if (stray) throw new Error(`${stray.path} is not inside ${home}`);
  return show.toSorted((a, b) => a.path.length - b.path.length);
}

/** Without those that another one covers, unless what is handled apart lies between the two. */
function outermost(paths: readonly string[], apart: readonly string[]): string[] {
  return paths.filter(
    (path) =>
      !paths.some(
        (around) => around !== path && within(around, path) && !apart.some((between) => within(around, between)),
      ),
  );
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
