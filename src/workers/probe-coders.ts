import { execa } from 'execa';
import { findProgram } from '../adapters/find-program.ts';
import type { Coder } from '../ports.ts';

const TIMEOUT_MS = 15_000;

/**
 * The coders whose program is on this machine and answers `--version`; those are advertised. A program of protocol
 * `none` need not know that flag: it counts as there if it can be found.
 */
export async function probeCoders(
  coders: Iterable<Coder>,
  env: NodeJS.ProcessEnv,
): Promise<Map<string, { coder: Coder; version: string }>> {
  const found = await Promise.all(
    [...coders].map(async (coder) => {
      const version = await probeCoder(coder, env);
      return version === undefined ? [] : [[coder.name, { coder, version }] as const];
    }),
  );
  return new Map(found.flat());
}

async function probeCoder(coder: Coder, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const [file, ...args] = coder.command;
  if (!file) return undefined;
  if (!coder.structured || args.length > 0) return (await findProgram(file, env)) ? 'found' : undefined;
  const answer = await execa(file, ['--version'], {
    ...{ env, extendEnv: false, timeout: TIMEOUT_MS, stdin: 'ignore', reject: false },
  });
  return answer.exitCode === 0 ? (answer.stdout.split('\n', 1)[0] ?? '').trim().slice(0, 80) : undefined;
}
