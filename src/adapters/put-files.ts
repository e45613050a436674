import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AgentStart } from '../ports.ts';

/** Puts in place what a coder needs before it starts. A second call finds the links of the first. */
export async function putFiles(files: AgentStart['files']): Promise<void> {
  for (const [path, file] of Object.entries(files)) {
    await mkdir(dirname(path), { recursive: true });
    if ('text' in file) await writeFile(path, file.text);
    else if ('copy' in file) await copyFile(file.copy, path);
    else
      await symlink(file.link, path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
  }
}
