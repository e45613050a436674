import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { sha256 } from '../sha256.ts';

/** One mounted hierarchy: version 1 has one a controller, version 2 has one for all. */
interface Hierarchy {
  version: 1 | 2;
  controllers: string[];
  mount: string;
  /** The folder of the group that this process is in. */
  own: string;
}

const WANTED = ['pids', 'memory'];
let known: Hierarchy[] | undefined;

/** The hierarchies that can limit or kill: those mounted with what we want, and version 2 for its `cgroup.kill`. */
function hierarchies(): Hierarchy[] {
  if (process.platform !== 'linux') return [];
  known ??= readHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8'));
  return known;
}

/** From the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`. */
export function readHierarchies(mountinfo: string, cgroup: string): Hierarchy[] {
  const groups = cgroup.split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line) ?? ['', '', '']);
  return mountinfo.split('\n').flatMap((line) => {
    const [left = '', right = ''] = line.split(' - ');
    const [, , , root = '/', mount = ''] = left.split(' ');
    const [type, , options = ''] = right.split(' ');
    const flags = options.split(',');
    const controllers = type === 'cgroup' ? WANTED.filter((name) => flags.includes(name)) : [];
    if (type !== 'cgroup2' && controllers.length === 0) return [];
    const path = groups.find(([, names]) =>
      type === 'cgroup2' ? names === '' : names?.split(',').includes(controllers[0]!),
    )?.[2];
    if (path === undefined || !mount) return [];
    const within = root !== '/' && path.startsWith(root) ? path.slice(root.length) : path;
    return [{ version: type === 'cgroup2' ? 2 : 1, controllers, mount, own: `${mount}${within}`.replace(/\/+$/, '') }];
  });
}

const parents = new Map<string, string[]>();

/** A home's own group in each hierarchy that takes one; made once. */
export function parentsOf(home: string): string[] {
  const name = `fleet-${sha256(home).slice(0, 12)}`;
  let found = parents.get(name);
  if (!found?.every((dir) => existsSync(dir))) {
    found = hierarchies().flatMap((hierarchy) => makeParent(hierarchy, name) ?? []);
    parents.set(name, found);
  }
  return found;
}

/**
 * Below our own group, or the nearest one above where version 2 lets groups with controllers be: a group that holds
 * processes itself gives none to its children.
 */
function makeParent({ version, mount, own }: Hierarchy, name: string): string | undefined {
  const above = version === 1 ? [own] : pathUp(own, mount);
  const offered = version === 2 ? read(`${mount}/cgroup.controllers`).split(/\s+/) : [];
  const wanted = WANTED.filter((controller) => offered.includes(controller));
  for (const dir of above) {
    const group = `${dir}/${name}`;
    if (!attempt(() => mkdirSync(group, { recursive: true }))) continue;
    const on = wanted.map((controller) => `+${controller}`).join(' ');
    if (on) attempt(() => writeFileSync(`${dir}/cgroup.subtree_control`, on));
    if (wanted.every((controller) => existsSync(`${group}/${controller}.max`))) {
      if (on) attempt(() => writeFileSync(`${group}/cgroup.subtree_control`, on));
      return group;
    }
    attempt(() => rmdirSync(group));
  }
  return undefined;
}

function pathUp(dir: string, top: string): string[] {
  return dir.length <= top.length ? [top] : [dir, ...pathUp(dirname(dir), top)];
}

export function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export function attempt(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
