import { opendir, realpath } from 'node:fs/promises';
import { basename } from 'node:path';

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules', '.claude', '.codex']);

/** Whether anything below the folder has this name; no link is followed. True as well where there is too much to look at. */
export async function hasName(folder: string, name: string, { entries = 50_000 } = {}): Promise<boolean> {
  const folders = [folder];
  let left = entries;
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for await (const entry of await opendir(at).catch(() => [])) {
      if (entry.name === name || (left -= 1) < 0) return true;
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(`${at}/${entry.name}`);
    }
  }
  return false;
}

/** The name of what a path leads to, by links as well; undefined where it leads nowhere. */
export const nameBehind = (path: string): Promise<string | undefined> => realpath(path).then(basename, () => undefined);
