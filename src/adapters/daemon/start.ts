import { spawn } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, openSync } from 'node:fs';
import type { HomeLayout } from '../../domain/names.ts';
import { builtFile } from '../../package.ts';

/** Arguments for node. */
export const KEEPER_ENTRY: readonly string[] = [builtFile('adapters/keeper/main.js')];

/** After 200 runs 69 MB resident instead of 105, at no cost in latency (measured). */
const SMALL_HEAP = ['--max-semi-space-size=1', '--optimize-for-size'];
let first = true;
const MAX_LOG_BYTES = 1024 * 1024;

/** Starts a keeper. `ended` becomes true when it ends, as it does where another one holds the lock. */
export function startKeeper({ home, entry }: { home: HomeLayout; entry: readonly string[] }): { ended: boolean } {
  const state = startDetached({ args: [...entry, home.root], logFile: home.keeperLog, env: failpoint() });
  first = false;
  return state;
}

/** A process of ours in a session of its own, with a small heap and the given environment alone. */
export function startDetached(options: { args: readonly string[]; logFile: string; env: Record<string, string> }): {
  ended: boolean;
} {
  const state = { ended: false };
  // Appended to, as it is cut under the process's hands.
  const log = openSync(options.logFile, 'a', 0o600);
  if (fstatSync(log).size > MAX_LOG_BYTES) ftruncateSync(log);
  try {
    const child = spawn(process.execPath, [...SMALL_HEAP, ...options.args], {
      cwd: '/',
      detached: true,
      stdio: ['ignore', log, log],
      // The worker's secrets stay with the worker; what a run needs comes with its order.
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...options.env },
    });
    child.on('error', () => (state.ended = true)).on('exit', () => (state.ended = true));
    child.unref();
  } finally {
    closeSync(log);
  }
  return state;
}

/** A kill point is for the first keeper that this process starts: the next one finds what that left. */
function failpoint(): Record<string, string> {
  const point = process.env['FLEET_FAILPOINT'];
  return first && point?.startsWith('keeper.') ? { FLEET_FAILPOINT: point } : {};
}
