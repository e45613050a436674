import { FETCH, git, GitFailed, gitText, lastLine } from '../git.ts';
import { graceful, STOP_MS } from '../graceful.ts';
import { listRemote, NETWORK_TIMEOUT_MS } from '../source/mirror.ts';
import { fail, failGit, type Failed } from '../failures.ts';
import { copyObjects } from '../pack.ts';
import { checkObjects, nameOfSource, reading, type PathSource, type Source } from '../source/source.ts';

/** What the merge queue does at the repository that results go to. */

/** Where the refs are now; one that is not there is left out. */
export async function readRefs(
  source: Source,
  refs: readonly string[],
  options: { timeoutMs?: number } = {},
): Promise<{ ok: true; refs: ReadonlyMap<string, string> } | Failed> {
  if (source.kind === 'url') return listRemote(source.url, refs, options);
  try {
    const lines = await checkObjects(source, refs);
    const found = lines.map((line, i) => [refs[i] ?? '', line.split(' ')] as const);
    return {
      ok: true,
      refs: new Map(found.flatMap(([ref, [id = '', type]]) => (type === 'commit' ? [[ref, id]] : []))),
    };
  } catch (error) {
    return failGit(error, 'repo-unavailable', `${nameOfSource(source)} cannot be read`);
  }
}

/** Brings those refs, by ref and commit, into a repository of ours that has `base`; each object is checked. */
export async function fetchRefs(fetch: {
  source: Source;
  refs: ReadonlyMap<string, string>;
  base: string;
  gitDir: string;
  signal: AbortSignal;
}): Promise<{ ok: true } | Failed> {
  const { source, refs, base, gitDir, signal } = fetch;
  if (refs.size === 0) return { ok: true };
  try {
    if (source.kind === 'path') {
      const revs = [...refs.values(), `^${base}`];
      await copyObjects({ from: reading(source), to: { gitDir }, revs, strict: true });
      return { ok: true };
    }
    const specs = [...refs.keys()].map((ref, i) => `+${ref}:refs/fetched/${i}`);
    const options = { gitDir, network: true, timeoutMs: NETWORK_TIMEOUT_MS, signal };
    await git(['-c', 'fetch.fsckObjects=true', ...FETCH, '--', source.url, ...specs], options);
    return { ok: true };
  } catch (error) {
    return failGit(error, 'repo-unavailable', `${nameOfSource(source)} did not give the results`);
  }
}

/** `moved`: somebody else was there first, and nothing was changed. */
export type Moved = { ok: true } | { ok: false; moved: true } | (Failed & { moved?: false });

/**
 * Moves a branch from one commit to a later one, and only from that one; the commit's objects come from a repository of ours.
 * Once `signal` says so, a push comes to its end or is given up: where nothing was changed the signal's reason is thrown, and git's
 * error where that is not known.
 */
export async function moveBranch(move: {
  source: Source;
  gitDir: string;
  ref: string;
  from: string;
  to: string;
  signal: AbortSignal;
}): Promise<Moved> {
  const { source, ref, from, to, signal } = move;
  try {
    await (source.kind === 'path' ? movePath(move, source) : pushTo(move, source.url));
    return { ok: true };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    // What stands there decides, not what git said.
    const there = await readRefs(source, [ref], signal.aborted ? { timeoutMs: STOP_MS } : {});
    if (there.ok && there.refs.get(ref) === to) return { ok: true };
    if (signal.aborted) throw there.ok && !error.timedOut ? signal.reason : error;
    if (there.ok && there.refs.get(ref) !== from) return { ok: false, moved: true };
    const [name, branch] = [nameOfSource(source), ref.replace('refs/heads/', '')];
    if (/\[(remote )?rejected\]|pre-receive hook declined|protected branch/i.test(error.stderr))
      return fail('repo-unavailable', `${name} refused the merge into ${branch}: ${lastLine(error.stderr)}`, {
        lasting: true,
      });
    return failGit(error, 'repo-unavailable', `${name} did not take the merge into ${branch}`);
  }
}

async function movePath({ gitDir, ref, from, to }: Parameters<typeof moveBranch>[0], source: PathSource) {
  const at = { gitDir: source.commonDir, as: source.owner };
  await copyObjects({ from: { gitDir }, to: at, revs: [to, `^${from}`], strict: true, looseBelow: 100 });
  await git(['-c', 'core.filesRefLockTimeout=3000', 'update-ref', '-m', 'fleet: merge', '--', ref, to, from], at);
}

async function pushTo({ gitDir, ref, from, to, signal }: Parameters<typeof moveBranch>[0], url: string) {
  const args = ['push', '--quiet', '--no-verify', '--no-follow-tags', '--no-signed', '--recurse-submodules=no'];
  const options = { gitDir, network: true, timeoutMs: NETWORK_TIMEOUT_MS, signal: graceful(signal) };
  await git([...args, `--force-with-lease=${ref}:${from}`, '--', url, `${to}:${ref}`], options);
}

/** The worktree that has the branch checked out: such a branch is its user's, and never moved under them. */
export async function checkedOutAt(source: Source, branch: string): Promise<string | null> {
  if (source.kind === 'url') return null;
  const at = { gitDir: source.commonDir, as: source.owner };
  const list = await gitText(['worktree', 'list', '--porcelain'], at);
  const blocks = list.split('\n\n').map((block) => block.split('\n'));
  const held = blocks.find((lines) => lines.includes(`branch refs/heads/${branch}`) && !lines.includes('bare'));
  return held?.[0]?.replace(/^worktree /, '') ?? null;
}

/** One sentence. */
export const checkedOutSentence = (branch: string, at: string): string =>
  `${branch} is checked out in ${at}, which the fleet never writes to: name another branch (into), or check out another one there`;
