import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** Which process, also after its number was given to another one or the machine was started again. */
export interface ProcessIdentity {
  pid: number;
  /** Opaque: clock ticks since boot on Linux, a date elsewhere. */
  startTime: string;
  bootId: string;
}

/** One line of the process table. */
export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  /** Dead and not yet collected by its parent. */
  zombie: boolean;
  startTime: string;
  /** User and system time in milliseconds, with that of the children it has waited for. */
  cpuMs: number;
}

/** Milliseconds in a clock tick of `/proc`: USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10;
const linux = process.platform === 'linux';
let boot: string | undefined;

/** Seconds since boot, time asleep included (CLOCK_BOOTTIME). */
export const bootSeconds = (): number => uptime();

export function bootId(): string {
  boot ??= linux
    ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    : run('sysctl', '-n', 'kern.boottime').trim();
  return boot;
}

/** Undefined where there is no such process, or only its zombie. */
export function identify(pid: number): ProcessIdentity | undefined {
  const entry = linux ? readStat(pid) : processTable().get(pid);
  return entry && !entry.zombie ? { pid, startTime: entry.startTime, bootId: bootId() } : undefined;
}

export function isAlive(identity: ProcessIdentity): boolean {
  const now = identity.bootId === bootId() ? identify(identity.pid) : undefined;
  return now?.startTime === identity.startTime;
}

/** All processes by pid: one read of each `/proc/<pid>/stat`, or one `ps`. */
export function processTable(): Map<number, ProcessEntry> {
  const entries = linux
    ? readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map((name) => readStat(Number(name)))
    : parsePs(run('ps', '-axo', 'pid=,ppid=,pgid=,stat=,time=,lstart='));
  return new Map(entries.filter((entry) => entry !== undefined).map((entry) => [entry.pid, entry]));
}

/** The children of a process of one thread, by one read where the kernel offers it; else undefined. */
export function childrenOf(pid: number): number[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
  } catch {
    return undefined;
  }
}

/** `roots` and everything below them. In a namespace that is all of it: an orphan goes to the namespace's own init. */
export function withDescendants(table: Map<number, ProcessEntry>, roots: Iterable<number>): ProcessEntry[] {
  const children = groupByParent(table);
  const found = new Map<number, ProcessEntry>();
  const next = [...roots];
  for (let pid = next.pop(); pid !== undefined; pid = next.pop()) {
    const entry = table.get(pid);
    if (!entry || found.has(pid)) continue;
    found.set(pid, entry);
    next.push(...(children.get(pid) ?? []).map((child) => child.pid));
  }
  return [...found.values()];
}

/** Pids whose environment at their start held `FLEET_RUN=<mark>`; only processes of our own user can be read. */
export function pidsMarked(mark: string): number[] {
  if (linux) {
    const wanted = `\0FLEET_RUN=${mark}\0`;
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && environment(name).includes(wanted))
      .map(Number);
  }
  return run('ps', '-axeww', '-o', 'pid=,command=')
    .split('\n')
    .filter((line) => `${line} `.includes(` FLEET_RUN=${mark} `))
    .map((line) => Number.parseInt(line, 10));
}

function environment(pid: string): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`;
  } catch {
    return '';
  }
}

function readStat(pid: number): ProcessEntry | undefined {
  let text;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The program's name, in brackets, may hold anything: the fields are counted from the last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (n: number) => Number(fields[n - 3]);
  return {
    pid,
    parent: field(4),
    group: field(5),
    zombie: fields[0] === 'Z' || fields[0] === 'X',
    startTime: fields[22 - 3]!,
    cpuMs: (field(14) + field(15) + field(16) + field(17)) * TICK_MS,
  };
}

/** Lines of `pid ppid pgid stat [[dd-]hh:]mm:ss[.ff] lstart`. Its times leave out those of dead children. */
export function parsePs(text: string): ProcessEntry[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, days, time, startTime] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(?:(\d+)-)?([\d:.]+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (!pid || !time) return [];
    const seconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days ?? 0) * 86_400;
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      zombie: state!.startsWith('Z'),
      startTime: startTime!,
      cpuMs: Math.round(seconds * 1_000),
    };
  });
}

function groupByParent(table: Map<number, ProcessEntry>): Map<number, ProcessEntry[]> {
  const groups = new Map<number, ProcessEntry[]>();
  for (const entry of table.values()) {
    const group = groups.get(entry.parent);
    if (group) group.push(entry);
    else groups.set(entry.parent, [entry]);
  }
  return groups;
}

function run(file: string, ...args: string[]): string {
  return execFileSync(file, args, {
    encoding: 'utf8',
    env: { LC_ALL: 'C', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    maxBuffer: 1 << 26,
  });
}
