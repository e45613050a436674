import { readFile } from 'node:fs/promises';
import { processTable } from '../../src/adapters/process.ts';

export interface LiveAgent {
  /** As this machine sees it. */
  pid: number;
  runId: string;
  /** The folder that it sees of its run. */
  work: string;
}

/** The live agents of a task: what runs right below an isolation's init, which is known by its arguments. */
export async function agents(taskId: string): Promise<LiveAgent[]> {
  const found = await Promise.all(
    [...processTable().values()].map(async ({ pid, parent, zombie }) => {
      // A child that is still the init's own shell is no agent yet.
      if (zombie || !(await isInit(parent)) || (await isInit(pid))) return [];
      const lines = (await read(pid, 'environ')).split('\0');
      const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s))) as Record<string, string>;
      if (env['FLEET_TASK'] !== taskId) return [];
      return [{ pid, runId: env['FLEET_RUN']!, work: env['PWD']!.replace(/\/tree$/, '') }];
    }),
  );
  return found.flat();
}

/** The nearest ancestor of an agent that is a keeper. */
export async function keeperOf({ pid }: LiveAgent): Promise<number> {
  const table = processTable();
  for (let at = table.get(pid)?.parent; at; at = table.get(at)?.parent)
    if ((await read(at, 'cmdline')).startsWith('fleet-keeper')) return at;
  throw new Error(`agent ${pid} has no keeper`);
}

const isInit = async (pid: number): Promise<boolean> => (await read(pid, 'cmdline')).split('\0')[3] === 'fleet-init';
const read = (pid: number, file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '');
