import { execa } from 'execa';
import { killGroup } from '../../adapters/program/run-with-stdin.ts';
import { findProgram } from '../../adapters/program/find-program.ts';
import { mapBounded } from '../../client/connection.ts';
import { CANNOT_RUN } from '../../domain/run/outcome.ts';
import { isOlder, versionIn } from '../../domain/values/version-compare.ts';
import type { Coder } from '../../ports.ts';

const TIMEOUT_MS = 15_000;
/** Programs that are asked at one time: nine that start at once are slow on a busy machine. */
const WIDTH = 2;

/** A coder on this machine: its program is there, also where it does not tell its version; is missing, too old, or cannot run. */
export type Probed = { coder: Coder } & (
  | { state: 'here'; version: string }
  | { state: 'too-old'; version: string }
  /** Why its version is not known. */
  | { state: 'unknown'; version: null; why: string }
  /** It died by a signal, or could not be started: an agent of it would as well. */
  | { state: 'broken'; version: null; why: string }
  | { state: 'missing' }
);

/** A coder that can be used; its version is null where its program did not tell. */
export interface UsableCoder {
  coder: Coder;
  version: string | null;
}

/** Looks for every coder's program, and asks each for its version, two at a time. */
export const probeCoders = (
  coders: Iterable<Coder>,
  env: NodeJS.ProcessEnv,
  limits: { timeoutMs?: number } = {},
): Promise<Probed[]> => mapBounded([...coders], WIDTH, (coder) => probeCoder(coder, env, limits));

/**
 * One of protocol `none`, and one behind another program, need not know `--version`: it is there if it can be found. At the time
 * limit, and when `signal` aborts, the program's process group is killed.
 */
export async function probeCoder(
  coder: Coder,
  env: NodeJS.ProcessEnv,
  { timeoutMs = TIMEOUT_MS, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<Probed> {
  const [file = '', ...args] = coder.command;
  if (!(await findProgram(file, env))) return { coder, state: 'missing' };
  if (!coder.structured || args.length > 0) return { coder, state: 'here', version: 'found' };
  const { timedOut, ...answer } = await askVersion(file, { env, timeoutMs, signal });
  const not = (state: 'unknown' | 'broken', why: string): Probed => ({
    ...{ coder, state, version: null },
    why: `${file} --version ${why}`,
  });
  if (timedOut) return not('unknown', `did not answer in ${timeoutMs / 1_000} s`);
  if (answer.exitCode === undefined)
    return not('broken', answer.signal ? `died by ${answer.signal}` : 'could not be started');
  if (answer.exitCode !== 0)
    return not(CANNOT_RUN.includes(answer.exitCode) ? 'broken' : 'unknown', `exited with ${answer.exitCode}`);
  const version = (answer.stdout.split('\n', 1)[0] ?? '').trim().slice(0, 80);
  if (!version) return not('unknown', 'said nothing');
  const number = versionIn(version);
  const old = coder.about && number && isOlder(number, coder.about.least);
  return old ? { coder, state: 'too-old', version } : { coder, state: 'here', version };
}

/** Its own process group: what a wrapper script started would outlive it, and hold its output open. */
async function askVersion(
  file: string,
  { env, timeoutMs, signal }: { env: NodeJS.ProcessEnv; timeoutMs: number; signal: AbortSignal | undefined },
) {
  const child = execa(file, ['--version'], {
    ...{ env, extendEnv: false, detached: true, stdin: 'ignore', reject: false },
  });
  let timedOut = false;
  const end = () => void (child.pid !== undefined && killGroup(child.pid));
  const timer = setTimeout(() => ((timedOut = true), end()), timeoutMs);
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  try {
    const { exitCode, signal: diedBy, stdout } = await child;
    return { exitCode, signal: diedBy, stdout, timedOut };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

const isUsable = (probed: Probed): probed is Extract<Probed, { state: 'here' | 'unknown' }> =>
  probed.state === 'here' || probed.state === 'unknown';

/** Those that a worker can use. */
export const usable = (probed: readonly Probed[]): Map<string, UsableCoder> =>
  new Map(probed.filter(isUsable).map(({ coder, version }) => [coder.name, { coder, version }]));

/** One sentence on a coder that cannot be used, with what helps. */
export function whyNot(probed: Probed): string | undefined {
  if (isUsable(probed)) return undefined;
  const { name, about, command } = probed.coder;
  const get = about ? `: ${about.install}` : '';
  if (probed.state === 'broken') return `coder ${name} is not able to run here: ${probed.why}`;
  return probed.state === 'missing'
    ? `coder ${name} is not here: no program ${command[0] ?? ''} in PATH${get}`
    : `coder ${name} is too old: it is ${probed.version} and needs ${about?.least ?? ''} or later${get}`;
}
