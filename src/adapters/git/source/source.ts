import { realpathSync, statSync, type Stats } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { sha256 } from '../../sha256.ts';
import { isUrl } from '../../../domain/repository/repository-name.ts';
import { git, GitFailed, gitText, redact, type Owner } from '../git.ts';
import { fail, failGit, type Failed } from '../failures.ts';

export interface PathSource {
  kind: 'path';
  /** Readable and unique: a folder name, the same for every worktree of one repository. */
  key: string;
  /** Where HEAD is read; for a linked worktree its own folder in `.git/worktrees`. */
  gitDir: string;
  /** Where objects, branches and the shallow file are. */
  commonDir: string;
  /** Top of the worktree; null for a bare repository. */
  checkout: string | null;
  /** Below the checkout, where the path that was opened leads to; empty: its top. */
  folder: string;
  /** Git runs with this one's rights where we are root. */
  owner: Owner;
}

export interface UrlSource {
  kind: 'url';
  key: string;
  url: string;
  /** The mirror; there only after the first fetch. */
  gitDir: string;
}

export type Source = PathSource | UrlSource;

/** What a local git needs to read a source. */
export const reading = (source: Source): { gitDir: string; as?: Owner } =>
  source.kind === 'path' ? { gitDir: source.gitDir, as: source.owner } : { gitDir: source.gitDir };

const opened = new Map<string, { source: PathSource; dev: number; ino: number }>();

/** Where a task's repository comes from. Touches no network and writes nothing. */
export async function openSource(open: {
  repo: string;
  mirrorDir: (key: string) => string;
}): Promise<{ ok: true; source: Source } | Failed> {
  if (isUrl(open.repo)) {
    const key = keyOf(open.repo, redact(open.repo));
    return { ok: true, source: { kind: 'url', key, url: open.repo, gitDir: open.mirrorDir(key) } };
  }
  const path = resolve(open.repo);
  const known = opened.get(path);
  if (known && unchanged(known)) return { ok: true, source: known.source };
  opened.delete(path);
  return openPath(path);
}

/** Where the repository is still the same one, of the same owner, it need not be looked for again. */
function unchanged({ source, dev, ino }: { source: PathSource; dev: number; ino: number }): boolean {
  const [own, common] = [statOf(source.gitDir), statOf(source.commonDir)];
  return own?.dev === dev && own.ino === ino && common?.uid === source.owner.uid && common.gid === source.owner.gid;
}

async function openPath(path: string): Promise<{ ok: true; source: PathSource } | Failed> {
  if (!statOf(path)?.isDirectory()) return fail('repo-unavailable', `repo ${path} does not exist on this machine`);
  // safe.directory=*: only to find the top; everything after runs with the owner's rights
  const args = ['-c', 'safe.directory=*', '-c', 'safe.bareRepository=all', 'rev-parse', '--is-inside-work-tree'];
  try {
    const out = await gitText([...args, '--path-format=absolute', '--git-dir', '--git-common-dir', '--show-prefix'], {
      cwd: path,
    });
    const [inside, gitDir = '', commonDir = '', prefix = ''] = out.split('\n');
    const { uid, gid } = statSync(commonDir);
    const { dev, ino } = statSync(gitDir);
    const folder = inside === 'true' ? prefix.replace(/\/$/, '') : '';
    const checkout = inside === 'true' ? topOf(path, folder) : null;
    const source: PathSource = {
      kind: 'path',
      key: keyOf(commonDir, nameOf(commonDir)),
      gitDir,
      commonDir,
      checkout,
      folder,
      owner: { uid, gid },
    };
    opened.set(path, { source, dev, ino });
    return { ok: true, source };
  } catch (error) {
    if (error instanceof GitFailed && /not a git repository/i.test(error.stderr))
      return fail('repo-unavailable', `${path} is not a git repository`);
    return failGit(error, 'repo-unavailable', `${path} cannot be read`);
  }
}

/** As it was typed, but for a link to a folder below it. */
function topOf(path: string, folder: string): string {
  if (folder === '') return path;
  const typed = path.endsWith(`/${folder}`) ? path : realpathSync(path);
  return typed.slice(0, -folder.length - 1) || '/';
}

/** Whether a branch `fleet` stands where `fleet/<task>` has to go. A URL's answer is as old as its last fetch. */
export async function blocksBranches(source: Source): Promise<boolean> {
  const ref = source.kind === 'path' ? 'refs/heads/fleet' : 'refs/origin/heads/fleet';
  if (source.kind === 'url' && !statOf(source.gitDir)) return false;
  const [line = ''] = await checkObjects(source, [ref]);
  return !/ (missing|ambiguous)$/.test(line);
}

/** One `<id> <type> <size>` or `<name> missing` per name. */
export async function checkObjects(source: Source, names: readonly string[]): Promise<string[]> {
  const out = await git(['cat-file', '--batch-check'], {
    ...reading(source),
    input: names.map((name) => `${name}\n`).join(''),
  });
  return out.toString('utf8').split('\n').slice(0, names.length);
}

/** For sentences. */
export const nameOfSource = (source: Source): string =>
  source.kind === 'path' ? (source.checkout ?? source.commonDir) : redact(source.url);

function keyOf(identity: string, readable: string): string {
  const last = readable.replace(/\/+$/, '').split(/[/:]/).at(-1) ?? '';
  const slug = last
    .replace(/\.git$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  return `${slug || 'repo'}-${sha256(identity).slice(0, 10)}`;
}

/** `/x/project/.git` and `/x/project.git` are both `project`. */
const nameOf = (commonDir: string): string => (basename(commonDir) === '.git' ? join(commonDir, '..') : commonDir);

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
