import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AgentStart } from '../../ports.ts';

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

/** Without links to files of the user that the repository has word for word: a CLI would load the same twice. */
export async function withoutRepeats(
  files: AgentStart['files'],
  { userHome, tree, instructions }: { userHome: string; tree: string; instructions: readonly string[] },
): Promise<AgentStart['files']> {
  const texts = new Set(await Promise.all(instructions.map((path) => textOf(`${tree}/${path}`))));
  texts.delete('');
  const kept = Object.entries(files).map(async ([path, file]) => {
    const own = 'link' in file && file.link.startsWith(`${userHome}/`);
    return own && texts.has(await textOf(file.link)) ? [] : [[path, file] as const];
  });
  return Object.fromEntries((await Promise.all(kept)).flat());
}

const textOf = (path: string): Promise<string> =>
  readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
