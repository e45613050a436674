import { existsSync, rmSync } from 'node:fs';
import type { Failure } from '../../../domain/agent/failure.ts';
import { failpoint } from '../../failpoint.ts';
import { git, GitFailed, lastLine, redact } from '../git.ts';
import { listRemote, NETWORK_TIMEOUT_MS } from '../source/mirror.ts';
import { fail, failGit } from '../failures.ts';
import { copyObjects } from '../pack.ts';
import { graceful, STOP_MS } from '../graceful.ts';
import { checkObjects, nameOfSource, type PathSource, type Source, type UrlSource } from '../source/source.ts';

export interface DeliverBranch {
  source: Source;
  /** A repository of ours that has the commit: the result's, or the vault. */
  gitDir: string;
  commit: string;
  /** What the source has already. */
  base: string;
  /** Full name, e.g. `refs/heads/fleet/<task>`. */
  ref: string;
  /** Accepted results of earlier runs, one of which may have been delivered by a worker that was lost right then. */
  earlier?: readonly string[];
  /** The task's own earlier result, which the branch may be at: it is moved from there, and from nowhere else. */
  replaces?: string;
  timeoutMs?: number;
  /** A push that then does not come to its end is given up. */
  signal?: AbortSignal;
}

/** Git holds a lock on a branch for a moment. */
const LOCK_MS = 3_000;

/** `already`: an earlier attempt had brought it there. */
export type Delivered = { ok: true; already: boolean; commit: string } | { ok: false; failure: Failure };

/**
 * Puts one branch into the source and touches nothing else of it. A branch that is there with the same commit, or an
 * earlier one, is success, with another a conflict: nothing is ever overwritten, or moved but from `replaces`. Throws the
 * signal's reason where it was given up.
 */
export async function deliverBranch(deliver: DeliverBranch): Promise<Delivered> {
  const delivered = await bring(deliver);
  if (delivered.ok || !deliver.replaces || delivered.there) return delivered;
  // Somebody has removed it, e.g. with its pull request.
  const { replaces: _gone, ...anew } = deliver;
  return bring(anew);
}

/** `there`: what a refused branch is at. */
type Brought = Delivered & { there?: string };

const bring = (deliver: DeliverBranch): Promise<Brought> =>
  deliver.source.kind === 'path' ? toPath(deliver, deliver.source) : toUrl(deliver, deliver.source);

async function toPath(deliver: DeliverBranch, source: PathSource): Promise<Brought> {
  const { commit, base, ref } = deliver;
  const to = { gitDir: source.commonDir, as: source.owner };
  try {
    if (commit !== base)
      await copyObjects({
        from: { gitDir: deliver.gitDir },
        to,
        revs: [commit, `^${base}`],
        strict: true,
        looseBelow: 100,
        pack: 'use',
      });
  } catch (error) {
    const unsound =
      error instanceof GitFailed && /fsck error|did not receive expected object|broken link/i.test(error.stderr);
    return failGit(error, unsound ? 'tampered' : 'repo-unavailable', `${nameOfSource(source)} did not take the commit`);
  }
  failpoint('deliver.objects-copied');
  try {
    await makeRef(source, deliver);
    failpoint('deliver.branch-made');
    return { ok: true, already: false, commit };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    const [there = '', fleet = ''] = await checkObjects(source, [ref, blocking(ref)]);
    const refs = new Map(
      [
        [ref, there],
        [blocking(ref), fleet],
      ]
        .filter(([, line]) => !line?.endsWith(' missing'))
        .map(([name = '', line = '']) => [name, line.split(' ')[0] ?? '']),
    );
    return judge(deliver, refs, error);
  }
}

async function makeRef(source: PathSource, { ref, commit, replaces }: DeliverBranch): Promise<void> {
  const args = ['-c', 'core.logAllRefUpdates=false', '-c', `core.filesRefLockTimeout=${LOCK_MS}`];
  const update = () =>
    git([...args, 'update-ref', '--', ref, commit, replaces ?? '0'.repeat(commit.length)], {
      gitDir: source.commonDir,
      as: source.owner,
    });
  const lock = `${source.commonDir}/${ref}.lock`;
  await update().catch((error: unknown) => {
    if (!existsSync(lock)) throw error;
    // Nobody but the fleet makes this branch: an earlier git was killed over it.
    rmSync(lock, { force: true });
    return update();
  });
}

async function toUrl(deliver: DeliverBranch, source: UrlSource): Promise<Brought> {
  const { commit, ref, signal, replaces = '' } = deliver;
  const args = ['push', '--quiet', '--no-verify', '--no-follow-tags', '--no-signed', '--recurse-submodules=no'];
  try {
    await git([...args, `--force-with-lease=${ref}:${replaces}`, '--', source.url, `${commit}:${ref}`], {
      gitDir: deliver.gitDir,
      network: true,
      timeoutMs: deliver.timeoutMs ?? NETWORK_TIMEOUT_MS,
      ...(signal ? { signal: graceful(signal) } : {}),
    });
    failpoint('deliver.branch-made');
    return { ok: true, already: false, commit };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    const remote = await listRemote(source.url, [ref, blocking(ref)], signal?.aborted ? { timeoutMs: STOP_MS } : {});
    if (signal?.aborted && !(remote.ok && remote.refs.has(ref))) throw signal.reason;
    return remote.ok
      ? judge(deliver, remote.refs, error)
      : failGit(error, 'repo-unavailable', `${redact(source.url)} did not take the branch`);
  }
}

/** What stands there decides, not what git said. */
function judge(
  { source, commit, ref, earlier = [], replaces }: DeliverBranch,
  refs: ReadonlyMap<string, string>,
  error: GitFailed,
): Brought {
  const name = nameOfSource(source);
  const branch = ref.replace('refs/heads/', '');
  const there = refs.get(ref);
  const brought = [commit, ...earlier.filter((other) => other !== replaces)];
  if (there && brought.includes(there)) return { ok: true, already: true, commit: there };
  if (there && there !== replaces) {
    const at = `at ${there.slice(0, 12)}, not at ${(replaces ?? commit).slice(0, 12)}`;
    return { ...fail('conflict', `${name} already has a branch ${branch}, ${at}`), there };
  }
  if (refs.has(blocking(ref))) {
    const short = blocking(ref).replace('refs/heads/', '');
    return fail(
      'conflict',
      `${name} has a branch named ${short}, so ${branch} cannot be made: rename or delete ${short}`,
    );
  }
  const refused = /\[(remote )?rejected\]|pre-receive hook declined|protected branch/i.exec(error.stderr);
  const failed = refused
    ? fail('conflict', `${name} refused the branch ${branch}: ${lastLine(error.stderr)}`)
    : failGit(error, 'repo-unavailable', `${name} did not take the branch ${branch}`);
  return there ? { ...failed, there } : failed;
}

/** The branch whose name would have to be a folder. */
const blocking = (ref: string): string => ref.split('/').slice(0, 3).join('/');
