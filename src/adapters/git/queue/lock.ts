import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';

/** Longer than any command holds it, but not than a remote may take. */
const WAIT_MS = 5 * 60_000;
const LOOK_MS = 50;

/**
 * One process at a time works with a queue's folder; the lock ends with the process, however it ends. Lock files that a
 * killed git left are nobody's then. Undefined where another process has it for minutes.
 */
export async function lockQueue(dir: string): Promise<Disposable | undefined> {
  mkdirSync(dirname(dir), { recursive: true });
  const fd = openSync(`${dir}.lock`, 'a', 0o600);
  const end = performance.now() + WAIT_MS;
  while (!tryLock(fd)) {
    if (performance.now() > end) {
      closeSync(fd);
      return undefined;
    }
    await pause(LOOK_MS);
  }
  dropLeftovers(dir);
  return { [Symbol.dispose]: () => closeSync(fd) };
}

function dropLeftovers(dir: string): void {
  for (const folder of [dir, `${dir}/refs/queue`])
    for (const name of names(folder)) if (name.endsWith('.lock')) rmSync(`${folder}/${name}`, { force: true });
}

const MANY_LOOSE = 27;
const MANY_PACKS = 50;

/** Whether so much has gathered that it is cheaper to fetch the little that is needed anew: git itself would collect now. */
export const isFull = (dir: string): boolean =>
  names(`${dir}/objects/17`).length > MANY_LOOSE || names(`${dir}/objects/pack`).length > MANY_PACKS;

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
