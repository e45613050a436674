import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { git } from '../git.ts';

const TIMEOUT_MS = 30 * 60_000;
const turns = new Map<string, Promise<unknown>>();

/** One writer of a vault at a time: objects that no ref names yet would be pruned. */
export function inVault<T>(vaultDir: string, work: () => Promise<T>): Promise<T> {
  const mine = (turns.get(vaultDir) ?? Promise.resolve()).then(work);
  const settled = mine.catch(() => undefined).finally(() => turns.get(vaultDir) === settled && turns.delete(vaultDir));
  turns.set(vaultDir, settled);
  return mine;
}

const MARK = 'fleet-prune';

/** Says that refs go: the worker that owns the vault prunes it when it gets to it. */
export const markForPruning = (vaultDir: string): Promise<void> => writeFile(`${vaultDir}/${MARK}`, '');

/** Drops the objects that no rescue ref leads to. Only for the worker that owns the vault, or while there is none. */
export function pruneMarked(vaultDir: string): Promise<void> {
  return inVault(vaultDir, async () => {
    if (!existsSync(`${vaultDir}/${MARK}`)) return;
    const options = { gitDir: vaultDir, timeoutMs: TIMEOUT_MS };
    // No `gc`: it packs the refs, which are read one by one.
    await git(['repack', '-a', '-d', '-q'], options);
    await git(['prune', '--expire=now'], options);
    await rm(`${vaultDir}/${MARK}`);
  });
}
