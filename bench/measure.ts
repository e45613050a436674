import { readdir, readFile } from 'node:fs/promises';
import { execa } from 'execa';

/** One figure. It depends on the machine: compare it with its floor, which the same run measured, or CPU seconds. */
export interface Row {
  what: string;
  value: number;
  unit: string;
  /** What it is made of. */
  parts?: string;
  floor?: number;
  target?: string;
}

/** Clock ticks of `/proc/<pid>/stat` a second. */
const TICKS = 100;

export async function rssMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** CPU seconds that these processes used, with their children that have ended. One that is gone counts as none. */
export async function cpuSeconds(pids: readonly number[]): Promise<number> {
  const used = await Promise.all(pids.map((pid) => ticks(`/proc/${pid}/stat`, 4)));
  return used.reduce((sum, one) => sum + one, 0) / TICKS;
}

/** CPU seconds of a process's first thread alone. */
export const mainThreadSeconds = async (pid: number): Promise<number> =>
  (await ticks(`/proc/${pid}/task/${pid}/stat`, 2)) / TICKS;

/** The first 2 or 4 of: user time, system time, the same of children. */
async function ticks(file: string, columns: 2 | 4): Promise<number> {
  const stat = await readFile(file, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 11 + columns).reduce((sum, field) => sum + Number(field), 0);
}

/** The first process whose command line contains a text. */
export async function findProcess(text: string): Promise<number> {
  for (const pid of (await readdir('/proc')).map(Number).filter((one) => one > 0 && one !== process.pid)) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    if (line.replaceAll('\0', ' ').includes(text)) return pid;
  }
  throw new Error(`no process has ${text} in its command line`);
}

/** Wall and CPU time of a program, in seconds. */
export async function timed(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Timed> {
  const start = performance.now();
  const { stderr } = await execa('/bin/sh', ['-c', '"$@" >/dev/null 2>&1; times >&2', 'sh', file, ...args], {
    env,
    extendEnv: false,
  });
  const wall = (performance.now() - start) / 1_000;
  const last = stderr.trim().split('\n').at(-1) ?? '';
  const cpu = [...last.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + Number(m) * 60 + Number(s), 0);
  return { wall, cpu };
}

export interface Timed {
  wall: number;
  cpu: number;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
