import { execa } from 'execa';
import { findProgram } from '../adapters/find-program.ts';
import { isOlder, versionIn } from '../domain/version.ts';
import type { Coder } from '../ports.ts';

const TIMEOUT_MS = 15_000;

/** A coder on this machine: its program is there, is not, or is too old. */
export type Probed = { coder: Coder } & ({ state: 'here' | 'too-old'; version: string } | { state: 'missing' });

/** Asks every coder's program for its version. One of protocol `none` need not know that flag: it is there if it can be found. */
export async function probeCoders(coders: Iterable<Coder>, env: NodeJS.ProcessEnv): Promise<Probed[]> {
  return Promise.all(
    [...coders].map(async (coder): Promise<Probed> => {
      const version = await versionOf(coder, env);
      if (version === undefined) return { coder, state: 'missing' };
      const number = versionIn(version);
      const old = coder.about && number && isOlder(number, coder.about.least);
      return { coder, state: old ? 'too-old' : 'here', version };
    }),
  );
}

/** Those that a worker can use. */
export const usable = (probed: readonly Probed[]): Map<string, { coder: Coder; version: string }> =>
  new Map(
    probed.flatMap((one) =>
      one.state === 'here' ? [[one.coder.name, { coder: one.coder, version: one.version }] as const] : [],
    ),
  );

/** One sentence on a coder that cannot be used, with what helps. */
export function whyNot(probed: Probed): string | undefined {
  if (probed.state === 'here') return undefined;
  const { name, about, command } = probed.coder;
  const get = about ? `: ${about.install}` : '';
  return probed.state === 'missing'
    ? `coder ${name} is not here: no program ${command[0] ?? ''} in PATH${get}`
    : `coder ${name} is too old: it is ${probed.version} and needs ${about?.least ?? ''} or later${get}`;
}

async function versionOf(coder: Coder, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const [file, ...args] = coder.command;
  if (!file) return undefined;
  if (!coder.structured || args.length > 0) return (await findProgram(file, env)) ? 'found' : undefined;
  const answer = await execa(file, ['--version'], {
    ...{ env, extendEnv: false, timeout: TIMEOUT_MS, stdin: 'ignore', reject: false },
  });
  return answer.exitCode === 0 ? (answer.stdout.split('\n', 1)[0] ?? '').trim().slice(0, 80) : undefined;
}
