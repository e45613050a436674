import { execa } from 'execa';
import { findProgram } from '../adapters/find-program.ts';
import { mapBounded } from '../client/wire.ts';
import { isOlder, versionIn } from '../domain/version.ts';
import type { Coder } from '../ports.ts';

const TIMEOUT_MS = 15_000;
/** Programs that are asked at one time: nine that start at once are slow on a busy machine. */
const WIDTH = 2;

/** A coder on this machine: its program is there, also where it does not tell its version; is missing, or is too old. */
export type Probed = { coder: Coder } & (
  | { state: 'here'; version: string }
  | { state: 'too-old'; version: string }
  /** Why its version is not known. */
  | { state: 'unknown'; version: null; why: string }
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

/** One of protocol `none`, and one behind another program, need not know `--version`: it is there if it can be found. */
export async function probeCoder(
  coder: Coder,
  env: NodeJS.ProcessEnv,
  { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {},
): Promise<Probed> {
  const [file = '', ...args] = coder.command;
  if (!(await findProgram(file, env))) return { coder, state: 'missing' };
  if (!coder.structured || args.length > 0) return { coder, state: 'here', version: 'found' };
  const answer = await execa(file, ['--version'], {
    ...{ env, extendEnv: false, timeout: timeoutMs, forceKillAfterDelay: 1_000, stdin: 'ignore', reject: false },
  });
  const unknown = (why: string): Probed => ({
    coder,
    state: 'unknown',
    version: null,
    why: `${file} --version ${why}`,
  });
  if (answer.timedOut) return unknown(`did not answer in ${timeoutMs / 1_000} s`);
  if (answer.exitCode === undefined)
    return unknown(answer.signal ? `died by ${answer.signal}` : 'could not be started');
  if (answer.exitCode !== 0) return unknown(`exited with ${answer.exitCode}`);
  const version = (answer.stdout.split('\n', 1)[0] ?? '').trim().slice(0, 80);
  if (!version) return unknown('said nothing');
  const number = versionIn(version);
  const old = coder.about && number && isOlder(number, coder.about.least);
  return old ? { coder, state: 'too-old', version } : { coder, state: 'here', version };
}

const isUsable = (probed: Probed): probed is Exclude<Probed, { state: 'missing' | 'too-old' }> =>
  probed.state === 'here' || probed.state === 'unknown';

/** Those that a worker can use. */
export const usable = (probed: readonly Probed[]): Map<string, UsableCoder> =>
  new Map(probed.filter(isUsable).map(({ coder, version }) => [coder.name, { coder, version }]));

/** One sentence on a coder that cannot be used, with what helps. */
export function whyNot(probed: Probed): string | undefined {
  if (isUsable(probed)) return undefined;
  const { name, about, command } = probed.coder;
  const get = about ? `: ${about.install}` : '';
  return probed.state === 'missing'
    ? `coder ${name} is not here: no program ${command[0] ?? ''} in PATH${get}`
    : `coder ${name} is too old: it is ${probed.version} and needs ${about?.least ?? ''} or later${get}`;
}
