import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { findProgram } from '../src/adapters/program/find-program.ts';
import { tempDir } from '../test/helpers/temp.ts';

/** How often each program was started below these processes meanwhile, by strace; undefined where that is not installed. */
export async function watchPrograms(
  pids: readonly number[],
  work: () => Promise<void>,
): Promise<Map<string, number> | undefined> {
  if (!(await findProgram('strace', process.env))) {
    await work();
    return undefined;
  }
  await using temp = await tempDir();
  const log = `${temp.path}/log`;
  const args = ['-f', '--seccomp-bpf', '-e', 'trace=execve', '-o', log, ...pids.flatMap((pid) => ['-p', String(pid)])];
  const tracer = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  await once(tracer.stderr, 'data');
  await work();
  tracer.kill('SIGINT');
  await once(tracer, 'exit');
  const counted = new Map<string, number>();
  for (const [, path = ''] of (await readFile(log, 'utf8')).matchAll(/execve\("([^"]+)".*\) = 0$/gm))
    counted.set(basename(path), (counted.get(basename(path)) ?? 0) + 1);
  return new Map([...counted].toSorted(([, a], [, b]) => b - a));
}
