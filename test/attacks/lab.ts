import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { containedArgv } from '../../src/adapters/sandbox/sandbox.ts';
import type { IsolationPlan } from '../../src/adapters/sandbox/plan.ts';
import { containedBench } from '../adapters/contained-bench.ts';

/** Takes a wall away from a command line, so that an attack on it is seen to succeed. */
export type Without = (argv: string[]) => string[];

/** The agent as the init's own child, in its user namespace. */
export const withoutUserNamespace: Without = (argv) => {
  const second = argv.indexOf(argv[0]!, 1);
  return argv.toSpliced(second, argv.indexOf('--', second) - second + 1);
};

/** Any system call. */
export const withoutFilter: Without = (argv) => argv.toSpliced(argv.indexOf('--seccomp'), 2);

/** All of /proc as the kernel has it. */
export const withoutReadOnlyProc: Without = (argv) => argv.toSpliced(argv.lastIndexOf('/proc') - 1, 2);

/** The machine's own network. */
export const withoutNetwork: Without = (argv) => argv.filter((word) => word !== '--unshare-net');

/** All of the machine, as its user has it. */
export const withoutView: Without = (argv) => {
  const from = argv.indexOf('--dir');
  return argv.toSpliced(from, argv.indexOf('--chdir') - from, '--dev-bind', '/', '/', '--proc', '/proc');
};

/**
 * Runs a shell command as code under test runs, its init's reports and its own output apart. `attack` files are put beside it.
 */
export async function attack(
  command: string | ((victim: string) => string[]),
  options: {
    files?: Record<string, string>;
    without?: Without | undefined;
    /** As an agent, not as a check. */
    debuggers?: boolean;
    /** Makes what is attacked, in a folder beside the home, which is `$V` for the command; answers what came of it. */
    victim?: (folder: string) => { look: () => unknown } & Partial<Disposable>;
  } = {},
) {
  using b = containedBench();
  const folder = `${b.root}/victim`;
  mkdirSync(folder);
  const victim = options.victim?.(folder);
  for (const [name, content] of Object.entries(options.files ?? {})) writeFileSync(`${b.work}/${name}`, content);
  const plan: IsolationPlan = {
    ...{ isolation: 'namespace', home: b.home, tmp: `${b.work}/tmp`, show: [{ path: b.work }] },
    debuggers: options.debuggers ?? false,
  };
  const env = { PATH: '/usr/bin:/bin', V: folder };
  const walled = containedArgv(plan, {
    argv: typeof command === 'string' ? ['sh', '-c', command] : command(folder),
    cwd: b.work,
    env,
  });
  const [file, ...args] = options.without ? options.without(walled) : walled;
  const child = spawn(file!, args, {
    cwd: '/',
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const control = child.stdio[3] as Socket;
  control.write('go\n');
  const report = new Promise<string>((resolve) => {
    let said = '';
    control.on('data', (bytes) => {
      said += String(bytes);
      const line = /^exit .*$/m.exec(said)?.[0];
      if (line) resolve(line);
    });
    child.on('exit', () => resolve('killed'));
  });
  const output = Promise.all([text(child.stdout!), text(child.stdio[4] as Socket), text(child.stderr!)]);
  const first = await report;
  control.end();
  child.kill('SIGKILL');
  const said = (await output).join('');
  const host = victim?.look();
  victim?.[Symbol.dispose]?.();
  return { report: first, said, host };
}

export const fixture = (name: string): string => readFileSync(`${import.meta.dirname}/programs/${name}`, 'utf8');
