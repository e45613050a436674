import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Isolation } from '../../domain/run/outcome.ts';
import { builtFile } from '../../package.ts';
import { ESCAPES } from './escapes.ts';
import { INIT } from './init.ts';
import { LIMITED, limitArgs } from './limits.ts';
import type { IsolationPlan, Named } from './plan.ts';
import { systemProgram } from './programs.ts';
import { filterFile } from './syscalls.ts';
import { viewArgs } from './view.ts';

const NAMESPACES = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net'];
/** Where the second bwrap finds its filter of system calls. */
const FILTER_FD = 5;
const NO_CAPABILITIES = ['--cap-drop', 'ALL'];
/** A folder that is not there is said as such. */
const GROUP = 'cd "$1" && shift && unset OLDPWD || exit\n';
const LISTEN = builtFile('adapters/sandbox/listen.js');
/** Lets root's init map root into the agent's user namespace. */
const SETFCAP = ['--cap-add', 'CAP_SETFCAP'];

/**
 * The command line that runs `argv` in `cwd` as the plan says: bwrap, the init as pid 1, bwrap, the agent. The second one only
 * puts the agent into a user namespace below the init's, where it can neither trace nor rob who reports its end. Start it
 * detached, in `/`, with descriptor 3 a pipe in both directions and 4 the agent's stderr; where the plan has a way out, 6 is the
 * channel by which that comes, see `keeper/tree.ts`.
 * @throws where a shown folder does not exist or a program is missing
 */
export function containedArgv(plan: IsolationPlan, named: Named): string[] {
  const { argv, cwd, limits = {} } = named;
  const limited = limitArgs(limits, plan);
  const sh = systemProgram('sh');
  const way = plan.isolation === 'namespace' ? plan.way : undefined;
  const ports = way ? [way.port, ...way.services].join(' ') : '';
  const filter = plan.isolation === 'namespace' ? builtFile(`adapters/sandbox/${filterFile(plan)}`) : '';
  const init = [sh, '-c', INIT, 'fleet-init', plan.isolation, ports, process.execPath, LISTEN, filter];
  // The shell only changes folder: given to spawn, a missing `cwd` would look like a missing program.
  if (plan.isolation === 'process-group')
    return [sh, '-c', `${GROUP}{${LIMITED}} 2>/dev/null; exec "$@"`, 'fleet-outer', cwd, ...limited, ...init, ...argv];
  const bwrap = systemProgram('bwrap');
  const held = ['--die-with-parent', '--new-session'];
  const outer = [...held, '--as-pid-1', ...NAMESPACES, ...NO_CAPABILITIES, ...(process.getuid!() === 0 ? SETFCAP : [])];
  const inner = [
    ...[...held, '--unshare-user', '--disable-userns', ...NO_CAPABILITIES],
    ...['--dev-bind', '/', '/', '--seccomp', `${FILTER_FD}`],
    // Nobody opens another's memory for writing.
    ...(plan.debuggers ? [] : ['--remount-ro', '/proc']),
  ];
  const view = [...viewArgs(plan, named), '--chdir', realpathSync(cwd)];
  // A program that is missing is the shell's 127, not bwrap's 1.
  return [
    bwrap,
    ...outer,
    ...view,
    '--',
    ...init,
    bwrap,
    ...inner,
    '--',
    sh,
    '-c',
    `{${LIMITED}} 2>/dev/null; exec "$@"`,
    'sh',
    ...limited,
    ...argv,
  ];
}

/** Where bwrap finds what `offArgv` has taken from its command line. */
const ARGS_FD = 5;

/** What bwrap can read from descriptor 5, a NUL behind each part: everybody on the machine sees a command line, and its folders. */
export function offArgv(argv: readonly string[]): { argv: readonly string[]; text?: string } {
  const end = argv.indexOf('--');
  if (basename(argv[0]!) !== 'bwrap') return { argv };
  const text = argv
    .slice(1, end)
    .map((part) => `${part}\0`)
    .join('');
  return { argv: [argv[0]!, '--args', String(ARGS_FD), ...argv.slice(end)], text };
}

/** What this machine can do, and why no more. One that is too slow to tell is held to the better. */
export async function detectIsolation(): Promise<{ isolation: Isolation; why?: string }> {
  if (process.platform !== 'linux') return { isolation: 'process-group', why: 'only Linux has namespaces' };
  const tried = await tryIsolation('namespace');
  return typeof tried === 'string' ? { isolation: 'namespace' } : { isolation: 'process-group', why: tried.why };
}

/** Says what is missing for namespaces. */
export const groupOnly = (why: string): string =>
  `agents are held by a process group only and can see all that you can: ${why}`;

/** Runs the real chain once (some 40 ms), with a program that tries to get out. `late`: it took too long to tell. */
export async function tryIsolation(isolation: Isolation): Promise<'works' | 'late' | { why: string }> {
  const home = mkdtempSync(join(tmpdir(), 'fleet-isolation-'));
  try {
    const work = `${home}/work`;
    mkdirSync(work);
    writeFileSync(`${home}/hidden`, '');
    const plan: IsolationPlan = { isolation, home, show: [{ path: work }], tmp: work };
    const argv = isolation === 'namespace' ? ['sh', '-c', ESCAPES] : ['true'];
    return await talk(containedArgv(plan, { argv, cwd: work, env: process.env }));
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  } finally {
    rmSync(home, { recursive: true });
  }
}

const TALK_MS = 10_000;

function talk([file, ...args]: string[]): Promise<Awaited<ReturnType<typeof tryIsolation>>> {
  return new Promise((resolve, reject) => {
    const child = spawn(file!, args, {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, TALK_MS);
    let said = '';
    let notes = '';
    const note = (bytes: unknown) => (notes = (notes + String(bytes)).slice(-300));
    child.stderr?.on('data', note);
    child.on('error', reject).on('close', (code, signal) => {
      clearTimeout(timer);
      if (said.includes('exit 0')) resolve('works');
      else if (late) resolve('late');
      else resolve({ why: notes.trim() || (signal ? `it was ended by ${signal}` : `it ended with ${code}`) });
    });
    (child.stdio[4] as Socket | null)?.on('data', note).on('error', () => {});
    const control = child.stdio[3] as Socket | null;
    control?.on('data', (bytes) => (said += String(bytes))).on('error', () => {});
    control?.end('go\n');
  });
}
