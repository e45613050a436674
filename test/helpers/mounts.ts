import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/** Mounts need root: where we are not, tests that need one say so in their name and check nothing. */
export const asRoot = process.getuid?.() === 0;

/** A file system of its own at `dir`; unmounted at the end, whatever still uses it. */
export function tmpfs(dir: string, options: string): Disposable {
  mkdirSync(dir, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `${options},mode=700`, 'tmpfs', dir]);
  return { [Symbol.dispose]: () => unmount(dir) };
}

/** Nothing can be written below `dir` by its name any more, until the end; what is open already stays open. */
export function readOnly(dir: string): Disposable {
  execFileSync('mount', ['--bind', dir, dir]);
  execFileSync('mount', ['-o', 'remount,bind,ro', dir]);
  return { [Symbol.dispose]: () => unmount(dir) };
}

const unmount = (dir: string): void => void execFileSync('umount', ['--lazy', dir]);
