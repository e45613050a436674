import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { attempt, parentsOf, read } from './cgroup-parents.ts';

/** What a process tree may use; where cgroups cannot be written, each of its processes is held to it, as far as the kernel does that. */
export interface ResourceLimits {
  /** Processes and threads at the same time. */
  processes?: number;
  /** Also of files in memory and the page cache. */
  memoryBytes?: number;
  /** Bytes of one file. */
  diskBytes?: number;
}

/**
 * The control groups of one process tree, one in each hierarchy. Its processes are one level below the limits, so that
 * not even a root user in a cgroup namespace of its own sees the files that hold them.
 */
export class ControlGroup {
  #dirs: string[];
  readonly #limits: ResourceLimits;
  #oomKills = 0;
  #refusals = 0;

  private constructor(dirs: string[], limits: ResourceLimits) {
    this.#dirs = dirs;
    this.#limits = limits;
  }

  /** Puts the process, with all that it will start, under the limits; into nothing where cgroups cannot be written. */
  static hold(pid: number, group: { home: string; name: string; limits: ResourceLimits }): ControlGroup {
    const dirs = parentsOf(group.home).map((parent) => `${parent}/${group.name}`);
    const held = dirs.filter(
      (dir) =>
        attempt(() => {
          mkdirSync(inner(dir), { recursive: true });
          limit(dir, group.limits);
          writeFileSync(`${inner(dir)}/cgroup.procs`, String(pid));
        }) || (removeGroup(dir), false),
    );
    return new ControlGroup(held, group.limits);
  }

  /** Whether every limit that was asked for holds. */
  get limited(): boolean {
    const { processes, memoryBytes } = this.#limits;
    const has = (controller: string) => this.#dirs.some((dir) => existsSync(`${dir}/${controller}`));
    return (
      (processes === undefined || has('pids.max')) &&
      (memoryBytes === undefined || has('memory.max') || has('memory.limit_in_bytes'))
    );
  }

  /** How often the kernel killed something of the tree for want of memory. */
  get oomKills(): number {
    const counts = ['memory.oom_control', 'memory.events'].map((file) => this.#count(file, 'oom_kill'));
    return (this.#oomKills = Math.max(this.#oomKills, ...counts));
  }

  /** How often the limit of processes refused one. */
  get refusals(): number {
    return (this.#refusals = Math.max(this.#refusals, this.#count('pids.events', 'max')));
  }

  /** At the limit of processes, or so near to it that nothing can be done any more. */
  get full(): boolean {
    const current = Math.max(...this.#dirs.map((dir) => Number(read(`${dir}/pids.current`))));
    return this.refusals > 0 && current >= (this.#limits.processes ?? Number.POSITIVE_INFINITY) * 0.9;
  }

  /** User and system milliseconds of all that is or was in the tree; undefined where the kernel does not count them. */
  get cpuMs(): number | undefined {
    const [text] = this.#dirs.map((dir) => read(`${dir}/cpu.stat`)).filter(Boolean);
    const usec = /^usage_usec (\d+)$/m.exec(text ?? '')?.[1];
    return usec === undefined ? undefined : Math.round(Number(usec) / 1_000);
  }

  /** Those not yet gone, as this process sees them. */
  pids(): number[] {
    return [...new Set(this.#dirs.flatMap(pidsIn))];
  }

  kill(): void {
    killGroups(this.#dirs);
  }

  /** Once nothing is in it; what was counted stays known. */
  remove(): void {
    void [this.oomKills, this.refusals];
    this.#dirs = this.#dirs.filter((dir) => !removeGroup(dir));
  }

  #count(file: string, key: string): number {
    const find = (dir: string) => new RegExp(`^${key} (\\d+)$`, 'm').exec(read(`${dir}/${file}`))?.[1];
    return Math.max(0, ...this.#dirs.flatMap((dir) => [dir, inner(dir)]).map((dir) => Number(find(dir) ?? 0)));
  }
}

/**
 * What earlier processes left of a home's groups. `mine` says which of them nobody else can be using: their processes
 * are killed; of the others only empty ones go, and so do the empty ones of homes that may never be used again. Call it
 * with the home's lock held.
 */
export function sweepGroups(home: string, mine: (name: string) => boolean): void {
  for (const parent of parentsOf(home)) {
    for (const dir of below(parent)) {
      if (mine(basename(dir))) killGroups([dir]);
      removeGroup(dir);
    }
    for (const other of below(dirname(parent)))
      if (other !== parent && /^fleet-[0-9a-f]{12}$/.test(basename(other))) attempt(() => rmdirSync(other));
  }
}

/** Removes the home's own groups where nothing is in them. */
export function leaveGroups(home: string): void {
  for (const parent of parentsOf(home)) attempt(() => rmdirSync(parent));
}

const inner = (dir: string): string => `${dir}/in`;

function limit(dir: string, { processes, memoryBytes }: ResourceLimits): void {
  const set = (file: string, value: number) =>
    existsSync(`${dir}/${file}`) && writeFileSync(`${dir}/${file}`, `${value}`);
  if (processes !== undefined) set('pids.max', processes);
  if (memoryBytes === undefined) return;
  for (const file of ['memory.max', 'memory.limit_in_bytes', 'memory.memsw.limit_in_bytes']) set(file, memoryBytes);
  set('memory.swap.max', 0);
}

function killGroups(dirs: readonly string[]): void {
  for (const dir of dirs) {
    if (existsSync(`${dir}/cgroup.kill`)) attempt(() => writeFileSync(`${dir}/cgroup.kill`, '1'));
    else for (const pid of pidsIn(dir)) attempt(() => process.kill(pid, 'SIGKILL'));
  }
}

/** Also of groups that the tree made below its own. */
function pidsIn(dir: string): number[] {
  const own = read(`${dir}/cgroup.procs`).split('\n').filter(Boolean).map(Number);
  return [...own.filter((pid) => pid > 0), ...below(dir).flatMap(pidsIn)];
}

function removeGroup(dir: string): boolean {
  for (const child of below(dir)) removeGroup(child);
  return attempt(() => rmdirSync(dir)) || !existsSync(dir);
}

function below(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${dir}/${name}`);
  } catch {
    return [];
  }
}
