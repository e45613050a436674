import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';

/**
 * Removes a folder that an agent may have filled: paths longer than the system takes defeat Node's own `rm`, which is
 * quicker for all others. Never throws: what cannot be removed stays, and is tried again when a worker starts.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // What cannot be written to, or not be looked into, belongs to us all the same.
    await execa('chmod', ['-R', 'u+rwx', '--', path], { reject: false });
    await execa('rm', ['-rf', '--', path], { reject: false });
  }
}

const WRITERS_MS = 30_000;

/** The same for a folder in which the git of a killed attempt may still write for a while. @throws where it stays */
export async function removeBusyTree(path: string): Promise<void> {
  const until = performance.now() + WRITERS_MS;
  for (;;) {
    await removeTree(path);
    if (!existsSync(path)) return;
    if (performance.now() > until) throw new Error(`${path} cannot be removed`);
    await sleep(50);
  }
}
