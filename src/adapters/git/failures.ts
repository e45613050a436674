import { statfsSync } from 'node:fs';
import type { Failure, Reason } from '../../domain/agent/failure.ts';
import { GitFailed, lastLine } from './git.ts';

export type Failed = { ok: false; failure: Failure };

export const fail = (reason: Reason, message: string, more: Pick<Failure, 'lasting'> = {}): Failed => ({
  ok: false,
  failure: { reason, message, ...more },
});

const FULL_BYTES = 64 * 1024 * 1024;

/** Asked of the file system: what git says may be the name of a file that an agent made. */
export function diskFull(dir: string): boolean {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize < FULL_BYTES;
}

/** `git was ended by SIGSEGV`, `git cannot be run (ENOENT)` */
export const gitBroken = (broken: string): string =>
  broken.startsWith('SIG') ? `git was ended by ${broken}` : `git cannot be run (${broken})`;

/** An expected failure of git as a value; a full disk and a git that does not work are told apart. What is no failure of git is thrown again. */
export function failGit(error: unknown, reason: Reason, sentence: string): Failed {
  if (!(error instanceof GitFailed)) throw error;
  if (/No space left on device|Disk quota exceeded/i.test(error.stderr))
    return fail('disk', `${sentence}: no space left on device`);
  if (error.broken !== undefined) return fail('machine-fault', `${sentence}: ${gitBroken(error.broken)}`);
  return fail(
    reason,
    `${sentence}: ${error.timedOut ? 'git timed out' : lastLine(error.stderr) || `git ended with ${error.code}`}`,
  );
}
