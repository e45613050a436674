import { GitFailed, gitText, redact } from '../git.ts';
import { listRemote } from './mirror.ts';
import { fail, failGit, type Failed } from '../failures.ts';
import { nameOfSource, openSource } from './source.ts';

export interface Inspected {
  ok: true;
  /** The worktree's top, the bare repository, or the URL as given. */
  top: string;
  head: string;
  /** The folder below the top that a path leads to; empty: the top. */
  folder: string;
  /** The branch HEAD is on; null where it is detached. */
  defaultBranch: string | null;
}

/** What the CLI asks before it enqueues: is it a repository, can it be read, has it a commit. Writes nothing. */
export async function inspectRepo(repo: string, timeoutMs = 30_000): Promise<Inspected | Failed> {
  const open = await openSource({ repo, mirrorDir: (key) => `/nonexistent/${key}` });
  if (!open.ok) return open;
  const { source } = open;
  if (source.kind === 'url') {
    const remote = await listRemote(source.url, ['HEAD'], { timeoutMs });
    if (!remote.ok) return remote;
    const head = remote.refs.get('HEAD');
    if (!head) return fail('base-missing', `${redact(repo)} has no commits`);
    return { ok: true, top: repo, folder: '', head, defaultBranch: branch(remote.head) };
  }
  const top = nameOfSource(source);
  try {
    const out = await gitText(['rev-parse', '--verify', 'HEAD^{commit}'], { gitDir: source.gitDir, as: source.owner });
    const name = await gitText(['rev-parse', '--symbolic-full-name', 'HEAD'], {
      gitDir: source.gitDir,
      as: source.owner,
    });
    return { ok: true, top, folder: source.folder, head: out, defaultBranch: branch(name) };
  } catch (error) {
    if (error instanceof GitFailed && /Needed a single revision|unknown revision|ambiguous argument/.test(error.stderr))
      return fail('base-missing', `${top} has no commits`);
    return failGit(error, 'repo-unavailable', `${top} cannot be read`);
  }
}

const branch = (ref: string | null): string | null =>
  ref?.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null;
