import { spawn } from 'node:child_process';

const OUTPUT_MAX = 64 * 1024;

/** How a program of the worker's owner ended: what it printed, or one sentence on why that does not count. */
export type Said = { ok: true; output: string } | { ok: false; why: string };

/** Runs a program with a text on its stdin; it and all of its process group are gone when the time is up. Never throws. */
export function askProgram(program: {
  command: readonly string[];
  env: Record<string, string>;
  input: string;
  timeoutMs: number;
}): Promise<Said> {
  const [file = '', ...args] = program.command;
  return new Promise((resolve) => {
    const child = spawn(file, args, { env: program.env, detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
    // Without file descriptors it has neither.
    const { stdin, stdout }: Partial<typeof child> = child;
    let output = '';
    const end = (said: Said) => {
      clearTimeout(timer);
      // What it left behind in its group goes with it.
      if (child.pid !== undefined) killGroup(child.pid);
      stdout?.destroy();
      resolve(said);
    };
    const timer = setTimeout(
      () => end({ ok: false, why: `took longer than ${program.timeoutMs / 1_000} s` }),
      program.timeoutMs,
    );
    child.on('error', ({ message }) => end({ ok: false, why: `cannot be run: ${message}` }));
    stdout?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-OUTPUT_MAX);
    });
    child.on('close', (code, signal) =>
      end(code === 0 ? { ok: true, output } : { ok: false, why: `ended with ${signal ?? `exit code ${code}`}` }),
    );
    stdin?.on('error', () => {});
    stdin?.end(program.input);
  });
}

/** By SIGKILL; the process was started detached. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
