import { rm } from 'node:fs/promises';
import { execa } from 'execa';

/**
 * Removes a folder that an agent may have filled: paths longer than the system takes defeat Node's own `rm`, which is
 * quicker for all others. Never throws: what cannot be removed stays, and is tried again when a worker starts.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await execa('rm', ['-rf', '--', path], { reject: false });
  }
}
