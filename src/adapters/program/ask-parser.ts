import { execa } from 'execa';

const OUTPUT_MAX = 256 * 1024 * 1024;

/**
 * Runs a built program of ours with a text on its stdin, without any environment: what it printed, as far as it came. It is killed when
 * it has used its processor time, or the time is up, when it is cancelled or prints more than 256 MB. Never throws.
 */
export async function askParser(program: {
  /** Its options for node, and the path of its file. */
  args: readonly string[];
  input: string;
  cpuSeconds: number;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}): Promise<string> {
  const { args, input, cpuSeconds, timeoutMs, signal } = program;
  // A busy machine is no reason to end it.
  const limited = `ulimit -t ${cpuSeconds} && exec "$0" "$@"`;
  const { stdout } = await execa('/bin/sh', ['-c', limited, process.execPath, ...args], {
    cwd: '/',
    env: {},
    extendEnv: false,
    input,
    stderr: 'ignore',
    reject: false,
    stripFinalNewline: false,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: OUTPUT_MAX,
    ...(signal && { cancelSignal: signal }),
  });
  return stdout ?? '';
}
