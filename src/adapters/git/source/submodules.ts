import { existsSync, realpathSync } from 'node:fs';
import { posix } from 'node:path';
import type { HomeLayout } from '../../../domain/names.ts';
import {
  submoduleOrigin,
  type NoSubmodule,
  type Submodule,
  type Submodules,
} from '../../../domain/repository/submodule.ts';
import { within } from '../../paths.ts';
import { ensureBase } from './base-store.ts';
import { treeEntries } from '../entries.ts';
import { git, GitFailed, redact, type Owner } from '../git.ts';
import { isFolderName } from '../safe-links.ts';
import { isPublished } from './mirror.ts';
import { resolveBase } from './resolve-base.ts';
import { checkObjects, nameOfSource, openSource, reading, type PathSource, type Source } from './source.ts';

interface At {
  gitDir: string;
  commit: string;
  as?: Owner | undefined;
}

export interface OpenSubmodules {
  /** Where the superproject comes from: relative URLs start there. */
  source: Source;
  /** The commit whose submodules are wanted, in a repository that has it. */
  at: At;
  /** The base, whose `.gitmodules` is believed, and so are those of its own commits of submodules: an agent's never are. */
  rules: At;
  /** By path. */
  wanted(path: string): boolean;
  home: HomeLayout;
  signal?: AbortSignal;
}

const MOST = 100;
const DEEPEST = 5;

/** Brings all submodules of a commit, and theirs, into stores of their own; parents before what is in them. */
export async function openSubmodules(open: OpenSubmodules): Promise<Submodules> {
  const { home, wanted, signal } = open;
  const submodules: Submodule[] = [];
  const levels: Level[] = [{ source: open.source, at: open.at, rules: open.rules, prefix: '', depth: 1 }];
  for (let level = levels.shift(); level; level = levels.shift()) {
    const planned = await planSubmodules({ ...level, wanted, home });
    if (!planned.ok) return planned;
    for (const { path, commit, source, own } of planned.plans) {
      if (level.depth > DEEPEST) return no(path, 'refused', `it is more than ${DEEPEST} deep`);
      if (submodules.length === MOST) return no(path, 'refused', `there are more than ${MOST} of them`);
      const common = { home, ...(signal ? { signal } : {}) };
      const moved = own?.commit !== commit;
      const refused = moved ? await unpublished(path, { commit, source, ...common }) : undefined;
      if (refused) return refused;
      const brought = await bring(path, { commit, source, ...common });
      if (!brought.ok) return brought;
      submodules.push({ path, commit, gitDir: brought.at.gitDir });
      const before = moved && own ? await bring(path, { ...own, ...common }) : undefined;
      if (before?.ok === false && before.why === 'unreachable') return before;
      const rules = moved ? before?.ok && before.at : brought.at;
      levels.push({ source, at: brought.at, rules: rules || undefined, prefix: `${path}/`, depth: level.depth + 1 });
    }
  }
  return { ok: true, submodules };
}

interface Level {
  source: Source;
  at: At;
  /** Undefined: the base has no commit of it that can be had, and nothing in it is believed. */
  rules: At | undefined;
  prefix: string;
  depth: number;
}

interface From {
  commit: string;
  source: Source;
}

interface Plan extends From {
  path: string;
  /** The base's own commit of it; undefined: it has none. */
  own: From | undefined;
}

/** What the submodules of one commit are, without theirs, and where from. Fetches nothing; refuses what no worker would fetch. */
export async function planSubmodules(
  plan: Omit<OpenSubmodules, 'signal' | 'rules'> & Pick<Level, 'rules'> & { prefix?: string },
): Promise<{ ok: true; plans: Plan[] } | NoSubmodule> {
  const { source, at, rules, wanted, home, prefix = '' } = plan;
  const { entries } = await treeEntries(at.gitDir, at.commit, { as: at.as });
  const links = [...entries].filter(([path, { mode }]) => mode === '160000' && wanted(prefix + path));
  if (links.length === 0) return { ok: true, plans: [] };
  const modules = rules ? await readModules(rules) : 'the base has no .gitmodules for it';
  if (typeof modules === 'string') return no(prefix + links[0]![0], 'refused', modules);
  const ruling = rules && (await treeEntries(rules.gitDir, rules.commit, { as: rules.as })).entries;
  const plans: Plan[] = [];
  for (const [path, { id }] of links) {
    if (!path.split('/').every(isFolderName)) return no(prefix + path, 'refused', 'its path is none for a folder');
    const module = modules.find((one) => one.path === path);
    if (!module?.url) return no(prefix + path, 'refused', '.gitmodules names no URL for it');
    const found = await sourceOf(source, { ...module, commit: id }, home);
    if ('why' in found) return no(prefix + path, 'refused', found.why);
    const now = { commit: id, source: found.source };
    const link = ruling?.get(path);
    const before = link?.mode === '160000' ? link.id : undefined;
    const known = before && before !== id ? await sourceOf(source, { ...module, commit: before }, home) : found;
    const own = before && 'source' in known ? { commit: before, source: known.source } : undefined;
    plans.push({ ...now, path: prefix + path, own });
  }
  return { ok: true, plans };
}

interface Module {
  name: string;
  path?: string;
  url?: string;
}

/** `.gitmodules` as git reads it, with no file that it may include; a sentence where it is none. */
async function readModules({ gitDir, commit, as }: At): Promise<Module[] | string> {
  const { entries } = await treeEntries(gitDir, commit, { as });
  const file = entries.get('.gitmodules');
  if (!file?.mode.startsWith('100')) return 'there is no .gitmodules';
  const args = [
    'config',
    '--no-includes',
    '-z',
    `--blob=${file.id}`,
    '--get-regexp',
    String.raw`^submodule\..*\.(path|url)$`,
  ];
  try {
    const out = await git(args, { gitDir, ...(as ? { as } : {}), maxBytes: 1024 * 1024 });
    const modules = new Map<string, Module>();
    for (const line of out.toString('utf8').split('\0').filter(Boolean)) {
      const [key = '', value] = line.split('\n', 2);
      if (value === undefined) continue;
      const name = key.slice('submodule.'.length, key.lastIndexOf('.'));
      const field = key.slice(key.lastIndexOf('.') + 1);
      const path = field === 'path' ? { path: posix.normalize(value).replace(/\/$/, '') } : { url: value };
      modules.set(name, { ...(modules.get(name) ?? { name }), ...path });
    }
    return [...modules.values()];
  } catch (error) {
    if (!(error instanceof GitFailed) || error.timedOut) throw error;
    return error.code === 1 ? [] : '.gitmodules cannot be read';
  }
}

/** Looks in the clone that a user's own repository has of it, where that has the commit; then what it was told, then `.gitmodules`. */
async function sourceOf(
  source: Source,
  { name, url, commit }: Module & { commit: string },
  home: HomeLayout,
): Promise<{ source: Source } | { why: string }> {
  const local = source.kind === 'path' ? await localClone(source, { name, commit }) : undefined;
  if (local) return { source: local };
  const told = source.kind === 'path' ? await configOf(source, `submodule.${name}.url`) : undefined;
  const origin = submoduleOrigin(told ?? url!, await aboveOf(source));
  if (!origin.ok) return { why: origin.why };
  if (isInside(home.root, origin.repo)) return { why: "its URL leads into the fleet's own folder" };
  const opened = await openSource({ repo: origin.repo, mirrorDir: home.mirror });
  return opened.ok ? { source: opened.source } : { why: opened.failure.message };
}

function isInside(root: string, repo: string): boolean {
  const path = posix.normalize(repo.replace(/^file:\/\//, ''));
  const real = (one: string): string => (existsSync(one) ? realpathSync(one) : one);
  return within(real(root), real(path)) || within(root, path);
}

async function localClone(
  { gitDir, commonDir }: PathSource,
  { name, commit }: { name: string; commit: string },
): Promise<Source | undefined> {
  if (!name.split('/').every(isFolderName)) return undefined;
  for (const dir of new Set([`${gitDir}/modules/${name}`, `${commonDir}/modules/${name}`])) {
    if (!existsSync(`${dir}/HEAD`)) continue;
    const opened = await openSource({ repo: dir, mirrorDir: (key) => `/nonexistent/${key}` });
    if (!opened.ok || opened.source.kind !== 'path' || opened.source.commonDir !== dir) continue;
    const [line] = await checkObjects(opened.source, [`${commit}^{commit}`]).catch(() => []);
    if (line?.startsWith(`${commit} commit`)) return opened.source;
  }
  return undefined;
}

async function configOf(source: PathSource, key: string): Promise<string | undefined> {
  try {
    return (await git(['config', '--get', key], reading(source))).toString('utf8').replace(/\n$/, '');
  } catch (error) {
    if (error instanceof GitFailed && error.code === 1) return undefined;
    throw error;
  }
}

/** What relative URLs start from. */
async function aboveOf(source: Source): Promise<string> {
  if (source.kind === 'url') return source.url;
  const here = source.checkout ?? source.commonDir;
  const origin = await configOf(source, 'remote.origin.url');
  if (origin === undefined) return here;
  return /^[^/]*:/.test(origin) ? origin : posix.resolve(here, origin);
}

type Bring = From & Pick<OpenSubmodules, 'home' | 'signal'>;

/** Only what its own repository has made public is taken in place of the base's commit; a path is the user's own. */
async function unpublished(path: string, { commit, source, signal }: Bring): Promise<NoSubmodule | undefined> {
  if (source.kind === 'path') return undefined;
  const found = await isPublished({ ...source, ...(signal ? { signal } : {}) }, commit);
  signal?.throwIfAborted();
  if (!found.ok) return no(path, 'unreachable', found.failure.message);
  if (found.published) return undefined;
  return no(path, 'no-commit', `${nameOfSource(source)} has no commit ${commit.slice(0, 12)} on any branch or tag`);
}

async function bring(
  path: string,
  { commit, source, home, signal }: Bring,
): Promise<{ ok: true; at: At } | NoSubmodule> {
  const resolved = await resolveBase({ source, base: commit, ...(signal ? { signal } : {}) });
  signal?.throwIfAborted();
  const stored = resolved.ok ? await ensureBase({ source, commit, home }) : resolved;
  if (stored.ok) return { ok: true, at: { gitDir: stored.path, commit } };
  const { reason, message } = stored.failure;
  if (reason !== 'base-missing') return no(path, 'unreachable', message);
  return no(path, 'no-commit', `${nameOfSource(source)} has no commit ${commit.slice(0, 12)}`);
}

function no(path: string, why: NoSubmodule['why'], message: string): NoSubmodule {
  const hint = 'to go on without it, name those that are needed in `submodules` of .fleet.yaml or the task, or none';
  return { ok: false, why, message: `submodule ${path} cannot be checked out: ${redact(message)}; ${hint}` };
}
