import { lstat, readdir } from 'node:fs/promises';

/** The newest change of a file or folder below `dir`, in ms since 1970; stops early at the first that is after `after`. */
export async function newestChange(dir: string, after: number): Promise<number> {
  let newest = 0;
  const folders = [dir];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = `${folder}/${entry.name}`;
      const changed = (await lstat(path).catch(() => undefined))?.ctimeMs ?? 0;
      newest = Math.max(newest, changed);
      if (newest > after) return newest;
      if (entry.isDirectory()) folders.push(path);
    }
  }
  return newest;
}
