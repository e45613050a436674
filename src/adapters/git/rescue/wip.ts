import { isNewer } from '../../../domain/agent/work-meta.ts';
import { FETCH, git, GitFailed, lastLine, redact } from '../git.ts';
import { formatOf, initGitDir } from '../init.ts';
import { readRef } from './rescue.ts';
import { readWorkRecord, type WorkRecord } from './work-record.ts';
import { removeTree } from '../../disk/remove-tree.ts';

/** A remote that hangs holds up nobody for longer. */
const TIMEOUT_MS = 30_000;
const FETCHED = 'refs/wip';
const PUSH = ['push', '--quiet', '--no-verify', '--no-follow-tags', '--no-signed', '--recurse-submodules=no'];

export interface Wip {
  url: string;
  /** Full name at the remote. */
  ref: string;
}

export type Pushed =
  | { ok: true }
  /** A newer run's work is there. */
  | { ok: false; why: 'newer' }
  | { ok: false; why: 'refused' | 'unreachable'; message: string };

/** What each run last put there: spares a look at the remote. */
const pushed = new Map<string, string>();
const MOST_KNOWN = 1_000;

/** Puts saved work on the remote, over older work and never over newer. `signal` gives it up. */
export async function pushWip(
  push: Wip & { record: WorkRecord; scratch: string; timeoutMs?: number; signal?: AbortSignal },
): Promise<Pushed> {
  const { record } = push;
  const key = `${push.url} ${push.ref} ${record.meta.runId}`;
  let there = pushed.get(key) ?? '';
  for (let tries = 0; tries < 3; tries += 1) {
    if (there === record.id) return { ok: true };
    try {
      await git([...PUSH, `--force-with-lease=${push.ref}:${there}`, '--', push.url, `${record.id}:${push.ref}`], {
        gitDir: record.gitDir,
        network: true,
        timeoutMs: push.timeoutMs ?? TIMEOUT_MS,
        ...(push.signal ? { signal: push.signal } : {}),
      });
      if (pushed.size >= MOST_KNOWN) pushed.clear();
      pushed.set(key, record.id);
      return { ok: true };
    } catch (error) {
      if (!(error instanceof GitFailed)) throw error;
      if (!/stale info|fetch first|already exists|cannot lock ref/i.test(error.stderr)) return failed(push, error);
    }
    const known = await fetchWip({ ...push, dir: push.scratch, borrow: record.gitDir, format: record.id });
    if (known?.record && isNewer(known.record.meta, record.meta)) return { ok: false, why: 'newer' };
    there = known?.id ?? '';
  }
  return { ok: false, why: 'unreachable', message: `${redact(push.url)} is changed by somebody else all the time` };
}

/** The work that the remote has, if it has any that can be read. Into `dir`, made anew, which borrows from `borrow`. */
export async function fetchWip(
  fetch: Wip & {
    dir: string;
    borrow: string;
    /** Any id of the repository. */ format: string;
    timeoutMs?: number;
    signal?: AbortSignal;
  },
): Promise<{ id: string; record: WorkRecord | undefined } | undefined> {
  const { dir } = fetch;
  await removeTree(dir);
  initGitDir({ dir, format: formatOf(fetch.format), head: 'ref: refs/heads/none', bare: true, borrow: fetch.borrow });
  try {
    await git(['-c', 'fetch.fsckObjects=true', ...FETCH, '--', fetch.url, `+${fetch.ref}:${FETCHED}`], {
      gitDir: dir,
      network: true,
      timeoutMs: fetch.timeoutMs ?? TIMEOUT_MS,
      ...(fetch.signal ? { signal: fetch.signal } : {}),
    });
  } catch (error) {
    if (error instanceof GitFailed) return undefined;
    throw error;
  }
  const id = readRef(dir, FETCHED);
  return id ? { id, record: await readWorkRecord(dir, id) } : undefined;
}

/** Removes a task's work from the remote; one that is not there is no fault. False: it may be there still. */
export async function dropWip(drop: Wip & { gitDir: string; signal?: AbortSignal }): Promise<boolean> {
  const { url, ref, gitDir, signal } = drop;
  const options = { gitDir, network: true, timeoutMs: TIMEOUT_MS / 3, ...(signal ? { signal } : {}) };
  try {
    await git([...PUSH, '--', url, `:${ref}`], options);
    return true;
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    return false;
  }
}

function failed({ url }: Wip, error: GitFailed): Pushed {
  const said = error.timedOut ? 'git timed out' : lastLine(error.stderr);
  const refused =
    /rejected|denied|declined|not allowed|read-only|40[13]\b|authentication|could not read (username|password)/i;
  return {
    ok: false,
    why: !error.timedOut && refused.test(error.stderr) ? 'refused' : 'unreachable',
    message: `${redact(url)} did not take work in progress: ${said}`,
  };
}
