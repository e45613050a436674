import type { Change } from '../../../ports.ts';
import type { Entry } from '../entries.ts';
import { GitFailed, lastLine } from '../git.ts';
import { copyObjects } from '../pack.ts';

/** Git's own files, and what some file systems take for them (`git~1`, letters that do not show). */
const SPECIAL = /git|~|[^\p{ASCII}]/iu;

/**
 * What a repository would refuse of a commit of ours at delivery, such as a `.gitmodules` that runs a program: one
 * sentence each. No process where no changed path can be of that kind. What was so in `head` already is left out.
 */
export async function checkResult(check: {
  gitDir: string;
  /** The commit of ours, and its parent. */
  commit: string;
  head: string;
  left: readonly Change[];
  entries: ReadonlyMap<string, Entry>;
}): Promise<string[]> {
  const { gitDir, left, entries } = check;
  if (!left.some(({ path }) => SPECIAL.test(path))) return [];
  const revs = [check.commit, `^${check.head}`];
  try {
    await copyObjects({ from: { gitDir }, to: { gitDir }, revs, strict: true, looseBelow: 100, blobs: false });
    return [];
  } catch (error) {
    if (!(error instanceof GitFailed) || !/fsck error/i.test(error.stderr)) throw error;
    const changed = new Map(left.map(({ path }) => [entries.get(path)?.id, path]));
    const old = new Set([...entries.values()].map(({ id }) => id).filter((id) => !changed.has(id)));
    return error.stderr.split('\n').flatMap((line) => {
      const id = /\bobject ([0-9a-f]{40,64}):/.exec(line)?.[1];
      if (!id || old.has(id) || line.startsWith('warning:')) return [];
      return `${changed.get(id) ?? '.'}: refused by git: ${lastLine(line).replace(/^object [0-9a-f]+: /, '')}`;
    });
  }
}
