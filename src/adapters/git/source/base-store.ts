import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { HomeLayout } from '../../../domain/names.ts';
import { isDamaged } from '../damage.ts';
import { formatOf, initGitDir, isCommitId } from '../init.ts';
import { mendMirror } from './mirror.ts';
import { commitObject, hashObject, writeLoose } from '../objects.ts';
import { fail, failGit, type Failed } from '../failures.ts';
import { copyObjects } from '../pack.ts';
import { nameOfSource, reading, type Source } from './source.ts';

type Ensured = { ok: true; path: string } | Failed;

const MAKING = '.making-';
const DAMAGED = '.damaged-';
const KEPT_PER_REPO = 3;
const YOUNG_MS = 10 * 60_000;
const flights = new Map<string, Promise<Ensured>>();
const making = new Set<string>();

/** The bare repository that holds one commit's history and nothing else: `bases/<key>/<commit>.git`. */
export function ensureBase(ensure: { source: Source; commit: string; home: HomeLayout }): Promise<Ensured> {
  const { source, commit } = ensure;
  if (!isCommitId(commit)) return Promise.resolve(fail('base-missing', `${commit} is not a commit id`));
  const path = ensure.home.base(source.key, commit);
  if (touch(path)) return Promise.resolve({ ok: true, path });
  const flight = flights.get(path) ?? build(source, commit, path).finally(() => flights.delete(path));
  flights.set(path, flight);
  return flight;
}

/** From a mirror that is found damaged a second time, after that was fetched anew. */
async function build(source: Source, commit: string, path: string): Promise<Ensured> {
  const first = await copy(source, commit, path);
  if (first.ok || source.kind === 'path') return first.ok ? first : first.failed;
  const mended = await mendMirror(source, first.error);
  if (!mended) return first.failed;
  if (!mended.ok) return mended;
  const second = await copy(source, commit, path);
  return second.ok ? second : second.failed;
}

type Copied = { ok: true; path: string } | { ok: false; failed: Failed; error: unknown };

async function copy(source: Source, commit: string, path: string): Promise<Copied> {
  const from = reading(source);
  let error: unknown;
  const made = await publish(path, async (temp) => {
    initGitDir({ dir: temp, format: formatOf(commit), head: commit, bare: true });
    const shallow = join(source.kind === 'path' ? source.commonDir : source.gitDir, 'shallow');
    try {
      if (existsSync(shallow)) writeShallow(temp, shallow);
      await copyObjects({ from, to: { gitDir: temp }, revs: [commit], strict: false });
      return undefined;
    } catch (failed) {
      error = failed;
      const name = nameOfSource(source);
      const gone = /bad revision|bad object|not a valid object name|not our ref/i.test(
        String((error as { stderr?: string }).stderr),
      );
      return gone
        ? fail('base-missing', `${name} has no commit ${commit}`)
        : failGit(error, 'repo-unavailable', `${name} cannot be read`);
    }
  });
  return made.ok ? made : { ok: false, failed: made, error };
}

/**
 * Takes a base that git found damaged out of the way, so that it is made anew; false where it is whole. Agents that borrow
 * from it keep what there is of it.
 */
export async function dropDamagedBase(path: string, failed: unknown): Promise<boolean> {
  if (!(await isDamaged(path, failed))) return false;
  if (existsSync(path)) renameSync(path, `${path}${DAMAGED}${randomBytes(4).toString('hex')}`);
  return true;
}

/** A base for tasks without a repository: one commit with no files, the same everywhere. */
export async function emptyBase(home: HomeLayout): Promise<{ path: string; commit: string }> {
  const tree = hashObject('sha1', 'tree', Buffer.alloc(0));
  const who = { name: 'Infinity Fleet', email: 'fleet@localhost' };
  const body = commitObject({ tree, parents: [], identity: who, seconds: 0, message: 'Empty base\n' });
  const commit = hashObject('sha1', 'commit', body);
  const path = home.base('empty', commit);
  if (!touch(path)) {
    await publish(path, async (temp) => {
      initGitDir({ dir: temp, format: 'sha1', head: commit, bare: true });
      writeLoose({ gitDir: temp, format: 'sha1' }, 'tree', Buffer.alloc(0));
      writeLoose({ gitDir: temp, format: 'sha1' }, 'commit', body);
      return undefined;
    });
  }
  return { path, commit };
}

/**
 * Removes the bases that nothing uses: kept are those in use, the last few per repository, and what was asked for within
 * `youngMs` (default ten minutes): whoever asks for one says only then that it is in use.
 */
export function releaseBases(release: { home: HomeLayout; inUse: ReadonlySet<string>; youngMs?: number }): string[] {
  const removed: string[] = [];
  const before = Date.now() - (release.youngMs ?? YOUNG_MS);
  for (const key of list(release.home.bases)) {
    const dir = join(release.home.bases, key);
    const all = list(dir).map((name) => ({ path: join(dir, name), name, usedMs: mtime(join(dir, name)) }));
    const left = all.filter(
      ({ name, path }) =>
        (name.includes(MAKING) && !making.has(path)) ||
        (name.includes(DAMAGED) && !release.inUse.has(path.slice(0, path.indexOf(DAMAGED)))),
    );
    const idle = all
      .filter((base) => base.name.endsWith('.git') && !release.inUse.has(base.path))
      .sort((a, b) => b.usedMs - a.usedMs)
      .slice(KEPT_PER_REPO)
      .filter((base) => base.usedMs < before);
    for (const base of [...left, ...idle]) {
      discard(base.path);
      removed.push(base.path);
    }
  }
  return removed;
}

/** Makes a folder aside and moves it into place whole; whoever comes second uses the first one's. */
async function publish(path: string, make: (temp: string) => Promise<Failed | undefined>): Promise<Ensured> {
  const temp = `${path}${MAKING}${randomBytes(4).toString('hex')}`;
  making.add(temp);
  try {
    mkdirSync(dirname(path), { recursive: true });
    const failed = await make(temp);
    if (failed) return failed;
    renameSync(temp, path);
    return { ok: true, path };
  } catch (error) {
    if (touch(path)) return { ok: true, path };
    throw error;
  } finally {
    rmSync(temp, { recursive: true, force: true });
    making.delete(temp);
  }
}

/** Renamed first: a kill in the middle leaves something that is known to be rubbish. */
function discard(path: string): void {
  const temp = path.includes(MAKING) ? path : `${path}${MAKING}gone`;
  if (temp !== path) renameSync(path, temp);
  rmSync(temp, { recursive: true, force: true });
}

function touch(path: string): boolean {
  try {
    const now = new Date();
    utimesSync(path, now, now);
    return true;
  } catch {
    return false;
  }
}

function writeShallow(gitDir: string, shallow: string): void {
  const lines = readFileSync(shallow, 'utf8').split('\n').filter(isCommitId);
  if (lines.length) writeFileSync(join(gitDir, 'shallow'), `${lines.join('\n')}\n`);
}

const list = (dir: string): string[] => (existsSync(dir) ? readdirSync(dir) : []);
const mtime = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
