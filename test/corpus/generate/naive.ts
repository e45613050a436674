import { rm } from 'node:fs/promises';
import { execa } from 'execa';
import { GIT_ENV } from './repositories.ts';

const LONGEST_MS = 120_000;

/** What a look at the exit code says of a result: setup and the commands in a clone in which the agent's script ran. */
export async function passesNaively(at: {
  repo: string;
  dir: string;
  script: string;
  commands: { setup?: string[]; verify?: string[] };
}): Promise<boolean> {
  const { repo, dir, script, commands } = at;
  const { setup = [], verify = [] } = commands;
  try {
    await execa('git', ['clone', '-q', repo, `${dir}/tree`], { env: GIT_ENV });
    const cwd = `${dir}/tree`;
    await execa('sh', ['-c', script], { cwd, env: GIT_ENV, reject: false });
    const env = { TMPDIR: `${dir}/tree/.git`, CI: '1' };
    for (const command of [...setup, ...verify]) {
      // A session of its own: what a cheat leaves running ends with it.
      const { exitCode } = await execa('timeout', ['-k', '2', String(LONGEST_MS / 1_000), 'sh', '-c', command], {
        ...{ cwd, env, reject: false, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
      });
      if (exitCode !== 0) return false;
    }
    return true;
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}
