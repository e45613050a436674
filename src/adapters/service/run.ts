import { execa } from 'execa';

export interface Ran {
  /** Null where it could not be started. */
  code: number | null;
  out: string;
  err: string;
}

/** Runs a program of the system, in plain English; `code` null: it is not here, or did not end within `ms`. */
export async function runSystemProgram(argv: readonly string[], env: NodeJS.ProcessEnv, ms = 60_000): Promise<Ran> {
  const [file = '', ...args] = argv;
  const ran = await execa(file, args, {
    ...{ env: { ...env, LC_ALL: 'C' }, extendEnv: false, reject: false, stdin: 'ignore' },
    ...(ms === Infinity ? {} : { timeout: ms }),
  });
  return { code: ran.exitCode ?? null, out: ran.stdout ?? '', err: (ran.stderr ?? '').trim() };
}
