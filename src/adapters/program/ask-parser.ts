import { spawn } from 'node:child_process';

const OUTPUT_MAX = 256 * 1024 * 1024;

/**
 * Runs a built program of ours with a text on its stdin, without any environment: what it printed, as far as it came. It is killed when
 * it has used its processor time, or the time is up, when it is cancelled or prints more than 256 MB. Never throws.
 */
export function askParser(program: {
  /** Its options for node, and the path of its file. */
  args: readonly string[];
  input: string;
  cpuSeconds: number;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}): Promise<string> {
  const { args, input, cpuSeconds, timeoutMs, signal } = program;
  if (signal?.aborted) return Promise.resolve('');
  return new Promise((resolve) => {
    // A busy machine is no reason to end it.
    const limited = `ulimit -t ${cpuSeconds} && exec "$0" "$@"`;
    const child = spawn('/bin/sh', ['-c', limited, process.execPath, ...args], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // Without file descriptors it has neither.
    const { stdin, stdout }: Partial<typeof child> = child;
    const parts: Buffer[] = [];
    let size = 0;
    const kill = () => void child.kill('SIGKILL');
    const timer = setTimeout(kill, timeoutMs);
    signal?.addEventListener('abort', kill, { once: true });
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      resolve(Buffer.concat(parts).toString());
    };
    child.on('error', end).on('close', end);
    stdout?.on('data', (part: Buffer) => {
      size += part.length;
      if (size > OUTPUT_MAX) kill();
      else parts.push(part);
    });
    stdin?.on('error', () => {});
    stdin?.end(input);
  });
}
