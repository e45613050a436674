import { git, GitFailed, gitText } from './git.ts';
import type { Failed } from './outcome.ts';
import { resolveBase } from './resolve-base.ts';
import { reading, type Source } from './source.ts';

/** The paths that a commit would bring into a branch which lacks some of its history, a rename by both its ends. */
export async function pathsAhead(of: {
  source: Source;
  commit: string;
  /** A branch; missing: the default one. */
  into: string | undefined;
  signal: AbortSignal;
}): Promise<{ ok: true; paths: string[] } | Failed> {
  const { source, commit, into, signal } = of;
  const [from, target] = [
    await resolveBase({ source, signal, base: commit }),
    await resolveBase({ source, signal, ...(into === undefined ? {} : { base: into }) }),
  ];
  if (!from.ok) return from;
  if (!target.ok) return target;
  const at = reading(source);
  const common = await commonOf(at, commit, target.commit);
  const names = common
    ? ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--no-ext-diff', common, commit]
    : ['ls-tree', '-r', '-z', '--name-only', commit];
  const out = (await git(names, at)).toString('utf8');
  return { ok: true, paths: out.split('\0').filter(Boolean) };
}

async function commonOf(at: ReturnType<typeof reading>, commit: string, target: string): Promise<string | undefined> {
  try {
    return (await gitText(['merge-base', commit, target], at)).trim();
  } catch (error) {
    if (error instanceof GitFailed && error.code === 1) return undefined;
    throw error;
  }
}
