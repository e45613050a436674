import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTable } from '../../src/adapters/program/process.ts';

export interface LiveAgent {
  /** As this machine sees it. */
  pid: number;
  taskId: string;
  runId: string;
  /** The folder that it sees of its run. */
  work: string;
}

/** The live agents of a task. */
export const agents = async (taskId: string): Promise<LiveAgent[]> =>
  (await liveAgents()).filter((agent) => agent.taskId === taskId);

/** All live agents on this machine: what runs below who waits for it on an isolation's init's behalf, known by its arguments. */
export async function liveAgents(): Promise<LiveAgent[]> {
  const all = [...processTable().values()];
  const parents = [...new Set(all.map(({ parent }) => parent))];
  const chosen = async (from: number[], is: (pid: number) => Promise<boolean>) =>
    new Set((await Promise.all(from.map(async (pid) => ((await is(pid)) ? [pid] : [])))).flat());
  const inits = await chosen(parents, isInit);
  const below = all.filter(({ pid, parent }) => inits.has(parent) && !inits.has(pid)).map(({ pid }) => pid);
  const waiters = await chosen(below, async (pid) => (await read(pid, 'cmdline')).includes('bwrap\0'));
  const found = await Promise.all(
    all.map(async ({ pid, parent, zombie }) => {
      if (zombie || !waiters.has(parent) || isShellOfOurs(await read(pid, 'cmdline'))) return [];
      const lines = (await read(pid, 'environ')).split('\0');
      const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s))) as Record<string, string>;
      const { FLEET_TASK: taskId, FLEET_RUN: runId, PWD } = env;
      // Of a process that ends just now, a part may be missing.
      return taskId && runId && PWD ? [{ pid, taskId, runId, work: PWD.replace(/\/tree$/, '') }] : [];
    }),
  );
  return found.flat();
}

/** Looks at the agents of a task until it is disposed of; begins with a look at those that live now. */
export async function watchAgents(taskId: string): Promise<{ most: number } & AsyncDisposable> {
  const count = async () => (await agents(taskId)).length;
  const watched = { most: await count() };
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      await sleep(50);
      watched.most = Math.max(watched.most, await count());
    }
  })();
  return Object.assign(watched, {
    [Symbol.asyncDispose]: async () => {
      over.abort();
      await watching;
    },
  });
}

/** The nearest ancestor of an agent that is a keeper. */
export async function keeperOf({ pid }: LiveAgent): Promise<number> {
  const table = processTable();
  for (let at = table.get(pid)?.parent; at; at = table.get(at)?.parent)
    if ((await read(at, 'cmdline')).startsWith('fleet-keeper')) return at;
  throw new Error(`agent ${pid} has no keeper`);
}

/** The process that holds the agents of a home, known by its lock. */
export const keeperIn = (home: string): Promise<number | undefined> => holderOf(`${home}/keeper.lock`, 'fleet-keeper');

/** The process that passes on the model calls of a home's agents. */
export const proxyIn = (home: string): Promise<number | undefined> => holderOf(`${home}/proxy.lock`, 'fleet-proxy');

async function holderOf(lock: string, title: string): Promise<number | undefined> {
  for (const { pid, zombie } of processTable().values()) {
    if (zombie || !(await read(pid, 'cmdline')).startsWith(title)) continue;
    const open = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const files = await Promise.all(open.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
    if (files.includes(lock)) return pid;
  }
  return undefined;
}

/** What becomes the agent: bwrap's own child, then the shell that runs it. */
const isShellOfOurs = (cmdline: string): boolean => cmdline.includes('\0exec "$@"\0') || cmdline === '';
const isInit = async (pid: number): Promise<boolean> => (await read(pid, 'cmdline')).split('\0')[3] === 'fleet-init';
const read = (pid: number, file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '');
