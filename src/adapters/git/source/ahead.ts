import { commonCommit } from './ancestry.ts';
import { git } from '../git.ts';
import { failGit, type Failed } from '../failures.ts';
import { resolveBase } from './resolve-base.ts';
import { nameOfSource, reading, type Source } from './source.ts';

/** The paths that a commit would bring into a branch which lacks some of its history, a rename by both its ends; none where there is no such branch. */
export async function pathsAhead(of: {
  source: Source;
  commit: string;
  /** A branch; missing: the default one. */
  into: string | undefined;
  signal: AbortSignal;
}): Promise<{ ok: true; paths: string[] } | Failed> {
  const { source, commit, into, signal } = of;
  // A tag may have the same name.
  const branch = into !== undefined && source.kind === 'path' ? `refs/heads/${into}` : into;
  const target = await resolveBase({ source, signal, ...(branch === undefined ? {} : { base: branch }) });
  if (!target.ok) return target.failure.reason === 'base-missing' ? { ok: true, paths: [] } : target;
  const at = reading(source);
  try {
    const common = await commonCommit(at, commit, target.commit);
    const names = common
      ? ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--no-ext-diff', common, commit]
      : ['ls-tree', '-r', '-z', '--name-only', commit];
    const out = (await git(names, at)).toString('utf8');
    return { ok: true, paths: out.split('\0').filter(Boolean) };
  } catch (error) {
    return failGit(error, 'repo-unavailable', `the history of ${nameOfSource(source)} cannot be read`);
  }
}
