import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';

/** A folder for the front of a worker's PATH, with a program that can be made to fail and to work again. */
export interface SickProgram {
  env: { PATH: string };
  sicken(): Promise<void>;
  heal(): Promise<void>;
}

/**
 * `when`: a shell pattern for its arguments, each with a blank before and behind; `end`: what it does then in place of its work. It
 * works until it is sickened.
 */
export async function sickProgram(
  dir: string,
  { name, when, end }: { name: string; when: string; end: string },
): Promise<SickProgram> {
  const flag = `${dir}.sick`;
  const real = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
  await mkdir(dir, { recursive: true });
  const lines = [
    '#!/bin/sh',
    `if [ -e '${flag}' ]; then case " $* " in ${when}) ${end} ;; esac; fi`,
    `exec ${real} "$@"`,
  ];
  await writeFile(`${dir}/${name}`, `${lines.join('\n')}\n`);
  await chmod(`${dir}/${name}`, 0o755);
  return {
    env: { PATH: `${dir}:${process.env['PATH']}` },
    sicken: () => writeFile(flag, ''),
    heal: async () => {
      if (existsSync(flag)) await rm(flag);
    },
  };
}
