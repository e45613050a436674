import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Whether a program of that name is on the PATH of this environment, or there at that path. Starts no process. */
export async function findProgram(file: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (!file) return false;
  const paths = file.includes('/') ? [file] : (env['PATH'] ?? '').split(delimiter).map((dir) => join(dir, file));
  for (const path of paths) if (await isProgram(path)) return true;
  return false;
}

const isProgram = (path: string): Promise<boolean> =>
  Promise.all([stat(path), access(path, constants.X_OK)]).then(
    ([found]) => found.isFile(),
    () => false,
  );
