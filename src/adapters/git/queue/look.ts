import { existsSync, readFileSync } from 'node:fs';
import { removeTree } from '../../disk/remove-tree.ts';
import { FETCH, git, redact } from '../git.ts';
import { formatOf, initGitDir, type ObjectFormat } from '../init.ts';
import { listRemote, NETWORK_TIMEOUT_MS } from '../source/mirror.ts';
import { fail, failGit, type Failed } from '../failures.ts';
import { isFull } from './lock.ts';

/** A git repository that is a queue, and the bare copy of its newest commit under FLEET_HOME. */
export interface QueuePlace {
  url: string;
  /** Default: the remote's default branch. */
  branch?: string | undefined;
  /** Folder of the task files, relative. */
  folder: string;
  /** Ours: everything in it comes from the remote. */
  gitDir: string;
}

export interface Tip {
  ok: true;
  /** Full name. */
  ref: string;
  /** Null where the branch has no commit yet. */
  commit: string | null;
}

const TIP = 'refs/queue/tip';

/** What the remote has now, fetched: only its newest commit. */
export async function lookAtQueue(place: QueuePlace): Promise<Tip | Failed> {
  const { url, gitDir } = place;
  const wanted = place.branch === undefined ? 'HEAD' : `refs/heads/${place.branch}`;
  const remote = await listRemote(url, ['HEAD', wanted]);
  if (!remote.ok) return remote;
  const commit = remote.refs.get(wanted);
  const ref = place.branch === undefined ? remote.head : wanted;
  if (!commit) return withoutCommit(place, { ref, other: remote.refs.get('HEAD') });
  if (!ref) return fail('repo-unavailable', `${redact(url)} has no default branch: name one with --branch`);
  await prepare(gitDir, formatOf(commit));
  if (await has(gitDir, commit)) return { ok: true, ref, commit };
  try {
    await git([...FETCH, '--depth=1', '--update-shallow', '--', url, `+${ref}:${TIP}`], {
      gitDir,
      network: true,
      timeoutMs: NETWORK_TIMEOUT_MS,
    });
    // The branch may have moved on between the two questions.
    const fetched = await git(['rev-parse', '--verify', TIP], { gitDir });
    return { ok: true, ref, commit: fetched.toString('utf8').trim() };
  } catch (error) {
    return failGit(error, 'repo-unavailable', `${redact(url)} cannot be fetched`);
  }
}

/** A remote without any commit tells only a clone which branch it would have. */
async function withoutCommit(
  { url, gitDir }: QueuePlace,
  { ref, other }: { ref: string | null; other: string | undefined },
): Promise<Tip | Failed> {
  if (ref && other) {
    await prepare(gitDir, formatOf(other));
    return { ok: true, ref, commit: null };
  }
  const clone = `${gitDir}.empty`;
  try {
    await removeTree(clone);
    await git(['clone', '--quiet', '--bare', '--template=', '--', url, clone], { network: true });
    const [, head = 'refs/heads/main'] = /^ref: (refs\/heads\/\S+)$/m.exec(readFileSync(`${clone}/HEAD`, 'utf8')) ?? [];
    const format = /objectformat = sha256/i.test(readFileSync(`${clone}/config`, 'utf8')) ? 'sha256' : 'sha1';
    await prepare(gitDir, format);
    return { ok: true, ref: ref ?? head, commit: null };
  } catch (error) {
    return failGit(error, 'repo-unavailable', `${redact(url)} cannot be read`);
  } finally {
    await removeTree(clone);
  }
}

async function prepare(gitDir: string, format: ObjectFormat): Promise<void> {
  if (existsSync(`${gitDir}/config`)) {
    const there = readFileSync(`${gitDir}/config`, 'utf8').includes('sha256') ? 'sha256' : 'sha1';
    if (there === format && !isFull(gitDir)) return;
    await removeTree(gitDir);
  }
  initGitDir({ dir: gitDir, format, head: 'ref: refs/heads/none', bare: true });
}

/** Refs are set once everything is there: a fetch that was killed may have left a part. */
async function has(gitDir: string, commit: string): Promise<boolean> {
  const refs = await git(['for-each-ref', '--format=%(objectname)', 'refs/queue'], { gitDir });
  return refs.toString('utf8').split('\n').includes(commit);
}
