import { execa } from 'execa';

const TIMEOUT_MS = 15_000;

/** Whether a shell with this environment finds the program, by name or path. */
export async function findProgram(file: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const options = { env, extendEnv: false, timeout: TIMEOUT_MS, stdin: 'ignore', reject: false } as const;
  return (await execa('/bin/sh', ['-c', 'command -v -- "$1"', 'sh', file], options)).exitCode === 0;
}
