import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { endedItself, isDamaged } from '../damage.ts';
import { FETCH, git, GitFailed, gitText, redact } from '../git.ts';
import { initGitDir } from '../init.ts';
import { fail, failGit, type Failed } from '../failures.ts';

export const NETWORK_TIMEOUT_MS = 5 * 60_000;
const HEADS = ['+refs/heads/*:refs/origin/heads/*', '+refs/tags/*:refs/origin/tags/*'];
const REFSPECS = ['+HEAD:refs/origin/HEAD', ...HEADS];

export interface Fetch {
  url: string;
  /** The bare mirror; made where it is missing. */
  gitDir: string;
  /** Fetched instead of everything: a commit id, or a full ref name such as `refs/pull/1/head`. */
  only?: string;
  timeoutMs?: number;
  /** Ends the wait with the signal's reason, and the fetch where nobody else waits for it. */
  signal?: AbortSignal;
}

type Fetched = { ok: true } | Failed;
interface Flight {
  fetched: Promise<Fetched>;
  waiting: number;
  stop: AbortController;
}

const running = new Map<string, Promise<unknown>>();
const waiting = new Map<string, Flight>();

/** Brings a mirror up to date: one fetch at a time per mirror, and all who come while one runs share the next. */
export function fetchMirror(fetch: Fetch): Promise<Fetched> {
  const shared = fetch.only ? undefined : waiting.get(fetch.gitDir);
  const flight = shared?.stop.signal.aborted ? depart(fetch) : (shared ?? depart(fetch));
  flight.waiting += 1;
  const { signal } = fetch;
  if (!signal) return flight.fetched;
  return new Promise((resolve, reject) => {
    const leave = () => {
      flight.waiting -= 1;
      if (flight.waiting === 0) flight.stop.abort();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
    void flight.fetched.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

function depart(fetch: Fetch): Flight {
  const key = fetch.gitDir;
  const stop = new AbortController();
  const before = running.get(key) ?? Promise.resolve();
  const fetched = before.then(() => {
    if (waiting.get(key) === flight) waiting.delete(key);
    return fetchNow({ ...fetch, signal: stop.signal });
  });
  const flight = { fetched, waiting: 0, stop };
  if (!fetch.only) waiting.set(key, flight);
  const settled = fetched.catch(() => {}).finally(() => running.get(key) === settled && running.delete(key));
  running.set(key, settled);
  return flight;
}

/** Whether this process fetches into a mirror just now. */
export const isFetching = (gitDir: string): boolean => running.has(gitDir);

async function fetchNow(fetch: Fetch, repaired = false): Promise<Fetched> {
  prepare(fetch.gitDir);
  // Its age is the time since it was last asked for.
  utimesSync(fetch.gitDir, new Date(), new Date());
  const specs = fetch.only ? [`+${fetch.only}:refs/origin/wanted/${fetch.only.replace(/^refs\//, '')}`] : REFSPECS;
  const run = (refspecs: string[]) =>
    git([...FETCH, ...(fetch.only ? [] : ['--prune']), '--', fetch.url, ...refspecs], {
      gitDir: fetch.gitDir,
      network: true,
      timeoutMs: fetch.timeoutMs ?? NETWORK_TIMEOUT_MS,
      ...(fetch.signal ? { signal: fetch.signal } : {}),
    });
  try {
    await run(specs);
    return { ok: true };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    if (/couldn't find remote ref HEAD/.test(error.stderr)) return withoutHead(fetch, run);
    if (!repaired && (repair(fetch.gitDir, error.stderr) || (await dropDamaged(fetch.gitDir, error))))
      return fetchNow(fetch, true);
    return failGit(error, 'repo-unavailable', `${redact(fetch.url)} cannot be reached`);
  }
}

/** Everything in it comes from the remote: what is damaged is fetched again. */
async function dropDamaged(gitDir: string, failed: unknown): Promise<boolean> {
  if (!(await isDamaged(gitDir, failed))) return false;
  const old = `${gitDir}.damaged-${randomBytes(4).toString('hex')}`;
  renameSync(gitDir, old);
  rmSync(old, { recursive: true, force: true });
  return true;
}

/** Fetches a mirror anew that was found damaged in reading it. Undefined: it is whole. */
export async function mendMirror(
  mirror: { url: string; gitDir: string },
  failed: unknown,
): Promise<Fetched | undefined> {
  return (await dropDamaged(mirror.gitDir, failed)) ? fetchMirror(mirror) : undefined;
}

/**
 * Whether a branch or tag of the remote leads to a commit: it is fetched where none did. A host may give out other commits by
 * their id alone, which anybody has made in a fork.
 */
export async function isPublished(
  fetch: Pick<Fetch, 'url' | 'gitDir' | 'signal'>,
  commit: string,
): Promise<{ ok: true; published: boolean } | Failed> {
  const args = ['for-each-ref', '--count=1', '--contains', commit, 'refs/origin/heads', 'refs/origin/tags'];
  const look = () =>
    gitText(args, { gitDir: fetch.gitDir }).then(
      (ref) => ref !== '',
      (error: unknown) => {
        // There is no such commit, or no mirror.
        if (endedItself(error)) return false;
        throw error;
      },
    );
  if (await look()) return { ok: true, published: true };
  const fetched = await fetchMirror(fetch);
  return fetched.ok ? { ok: true, published: await look() } : fetched;
}

/** A remote whose HEAD names a branch that does not exist. */
async function withoutHead(fetch: Fetch, run: (specs: string[]) => Promise<unknown>): Promise<Fetched> {
  rmSync(`${fetch.gitDir}/refs/origin/HEAD`, { force: true });
  try {
    await run(HEADS);
    return { ok: true };
  } catch (error) {
    return failGit(error, 'repo-unavailable', `${redact(fetch.url)} cannot be reached`);
  }
}

function prepare(gitDir: string, format: 'sha1' | 'sha256' = 'sha1'): void {
  if (existsSync(`${gitDir}/HEAD`)) return;
  const temp = `${gitDir}.making-${randomBytes(4).toString('hex')}`;
  mkdirSync(dirname(gitDir), { recursive: true });
  initGitDir({ dir: temp, format, head: 'ref: refs/heads/none', bare: true });
  try {
    rmSync(gitDir, { recursive: true, force: true });
    renameSync(temp, gitDir);
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** What a second try can help: another object format, and lock files of a fetch that was killed (ours is the only one). */
function repair(gitDir: string, stderr: string): boolean {
  if (/mismatched algorithms/.test(stderr) && !/sha256/.test(readFileSync(`${gitDir}/config`, 'utf8'))) {
    rmSync(gitDir, { recursive: true, force: true });
    prepare(gitDir, 'sha256');
    return true;
  }
  if (!/\.lock': File exists/.test(stderr)) return false;
  const locks = readdirSync(gitDir, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.lock'));
  for (const path of locks) if (statSync(`${gitDir}/${path}`).isFile()) rmSync(`${gitDir}/${path}`, { force: true });
  return locks.length > 0;
}

export interface RemoteRefs {
  ok: true;
  refs: Map<string, string>;
  /** The branch that the remote's HEAD names. */
  head: string | null;
}

/** `passing`: it may answer in a while. */
type NotListed = Failed & { passing: boolean };

/** What a remote has, by full ref name. */
export async function listRemote(
  url: string,
  patterns: readonly string[],
  options: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<RemoteRefs | NotListed> {
  try {
    const given = { network: true, timeoutMs: 30_000, ...options };
    const out = await git(['ls-remote', '--symref', '--', url, ...patterns], given);
    const lines = out.toString('utf8').split('\n').filter(Boolean);
    const symref = lines.find((line) => line.startsWith('ref: ') && line.endsWith('\tHEAD'));
    const refs = new Map<string, string>();
    for (const line of lines) {
      const [id, name] = line.split('\t');
      if (id && name && !line.startsWith('ref: ')) refs.set(name, id);
    }
    return { ok: true, refs, head: symref?.slice('ref: '.length, -'\tHEAD'.length) ?? null };
  } catch (error) {
    if (error instanceof GitFailed && /does not appear to be a git repository|not found/i.test(error.stderr))
      return {
        ...fail('repo-unavailable', `${redact(url)} is not a git repository, or needs a login`),
        passing: false,
      };
    return { ...failGit(error, 'repo-unavailable', `${redact(url)} cannot be reached`), passing: true };
  }
}
