import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
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

/**
 * Runs a shell command as code under test runs, its init's reports and its own output apart. `attack` files are put beside it.
 */
export async function attack(command: string, options: { files?: Record<string, string>; without?: Without } = {}) {
  using b = containedBench();
  for (const [name, content] of Object.entries(options.files ?? {})) writeFileSync(`${b.work}/${name}`, content);
  const plan: IsolationPlan = {
    ...{ isolation: 'namespace', home: b.home, sealed: true, tmp: `${b.work}/tmp` },
    ...{ show: [{ path: b.work }], readOnly: [b.repo] },
  };
  const env = { PATH: '/usr/bin:/bin', R: b.repo, H: b.home };
  const walled = containedArgv(plan, { argv: ['sh', '-c', command], cwd: b.work, env });
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
  return { report: first, said: (await output).join('') };
}

export const fixture = (name: string): string => readFileSync(`${import.meta.dirname}/programs/${name}`, 'utf8');
