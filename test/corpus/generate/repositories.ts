import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { execa } from 'execa';
import type { Files } from './exercise.ts';

const PERSON = { GIT_AUTHOR_NAME: 'T', GIT_AUTHOR_EMAIL: 't@localhost', GIT_CONFIG_GLOBAL: '/dev/null' };
/** An environment in which git commits without any configuration of the machine. */
export const GIT_ENV = { ...PERSON, GIT_COMMITTER_NAME: 'T', GIT_COMMITTER_EMAIL: 't@localhost' };

/** A repository with one commit of these files. */
export async function makeRepository(dir: string, files: Files): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(`${dir}/${path}`), { recursive: true });
    await writeFile(`${dir}/${path}`, text);
  }
  const script = 'git init -q -b main\ngit add -A\ngit commit -q -m Base';
  await execa('sh', ['-ec', script], { cwd: dir, env: GIT_ENV });
  return dir;
}
