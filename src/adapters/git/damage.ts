import { git, GitFailed } from './git.ts';

const TIMEOUT_MS = 10 * 60_000;
/** What somebody once committed so: it is whole all the same. */
const ODD = /^((error|warning) in (commit|tree|blob|tag) |hint:)/;
/** In the exit code of `git fsck`: something is missing. It says what on stdout. */
const MISSING = 2;
/** What git says of a repository with parts missing, cut short or unreadable. */
const SAYS =
  /bad object|bad (tree|ref|sha1|index|pack)|missing|corrupt|did not send all|not a git repository: |unable to (read|open|unpack)|could not (read|open)|cannot (read|open)|inflate|truncated|invalid|loose object|packfile|does not match|failed to (read|unpack)/i;

/** Git ended by itself: it could be run, nothing killed it, and its time was not up. */
export const endedItself = (failed: unknown): failed is GitFailed & { code: number } =>
  failed instanceof GitFailed && failed.code !== null && failed.broken === undefined && !failed.timedOut;

/** Whether git found a repository of ours damaged: what it said may be so, and reading all of it shows that it is. */
export async function isDamaged(gitDir: string, failed: unknown): Promise<boolean> {
  if (!endedItself(failed) || !SAYS.test(failed.stderr)) return false;
  try {
    await git(['fsck', '--full', '--no-dangling', '--no-progress'], { gitDir, timeoutMs: TIMEOUT_MS });
    return false;
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    if (!endedItself(error)) return false;
    const lines = error.stderr.split('\n').filter(Boolean);
    return (error.code & MISSING) !== 0 || !lines.length || lines.some((line) => !ODD.test(line));
  }
}
