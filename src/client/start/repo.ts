import { machineName } from '../../adapters/state/config-file.ts';
import { redact } from '../../adapters/git/git.ts';
import { inspectRepo } from '../../adapters/git/source/inspect.ts';
import { checkedOutAt, checkedOutSentence } from '../../adapters/git/deliver/merge-source.ts';
import { listRemote } from '../../adapters/git/source/mirror.ts';
import type { Failed } from '../../adapters/git/failures.ts';
import { readAtBase } from '../../adapters/git/worktree/private-repo.ts';
import { resolveBase } from '../../adapters/git/source/resolve-base.ts';
import { hasFolder, treeEntries } from '../../adapters/git/entries.ts';
import { blocksBranches, openSource, reading, type PathSource } from '../../adapters/git/source/source.ts';
import { planSubmodules } from '../../adapters/git/source/submodules.ts';
import { matches } from '../../adapters/glob.ts';
import { parseRepoFile } from '../../adapters/disk/repo-file.ts';
import { resolveHome, type Config } from '../../config.ts';
import { FleetError, wrongInput, notFound } from '../../domain/error.ts';
import { homeLayout } from '../../domain/names.ts';
import { NO_FILE, wantedSubmodules, type RepoFile } from '../../domain/repository/repo-policy.ts';
import type { Reason } from '../../domain/agent/failure.ts';
import type { Task } from '../../domain/task/schema.ts';
import { isUrl } from '../../domain/repository/repository-name.ts';
import { noFolder, normalFolder } from '../../domain/repository/working-folder.ts';
import { baseNotes } from './base-notes.ts';

/**
 * What becomes of a task's repository: an absolute path with the machine that it is on, the base and the work to go on from as
 * commits, and the branch that it is merged into.
 */
export type RepoPin = {
  repo?: string;
  machine?: string;
  base?: string;
  continueFrom?: string;
  into?: string;
  cwd?: string;
};

/** `notes`: what its owner should know of the base, a sentence each; `file`: its `.fleet.yaml`, as far as it can be read here. */
export interface Pinned {
  pin: RepoPin;
  notes: string[];
  file: RepoFile;
  /** The text of a file of the base, where that is here. */
  read?: (path: string) => Promise<string | undefined>;
}

const nothingOf = (pin: RepoPin): Pinned => ({ pin, notes: [], file: NO_FILE });

/** @throws FleetError (2) where the repository cannot be worked on, or its base does not exist; `unavailable` where a remote does not answer */
export async function pinRepo(task: Task, config: Config): Promise<Pinned> {
  if (!task.repo) return nothingOf({});
  const { base, continueFrom } = task;
  if (base !== undefined && isOurs(base))
    throw wrongInput(`base must be no ref of the fleet's own: what is on ${base} was accepted by nobody`);
  if (continueFrom !== undefined && isOurs(continueFrom))
    throw wrongInput(
      `continueFrom must be no ref of the fleet's own: fleet task <id> work --branch makes a branch of it`,
    );
  if (isUrl(task.repo)) return nothingOf(await pinUrl(task.repo, task));
  const machine = machineName(config);
  // Another machine's repository: that one looks for itself.
  if (task.machine !== undefined && task.machine !== machine) return nothingOf({});
  const { source, folder, ...pin } = await pinPath(task.repo, task);
  const cwd = await folderOf(source, { task, folder, base: pin.base });
  await checkSubmodules(source, { task, base: pin.base });
  const known = await baseNotes(source, { task: { ...task, cwd }, base: pin.base });
  return { pin: { machine, ...pin, ...(cwd === undefined ? {} : { cwd }) }, ...known };
}

/** Saved work, results that wait and the like, also as git completes a name that has no `refs/` before it. */
const isOurs = (base: string): boolean => /(^|\/)refs\/fleet\//i.test(base) || /^fleet\/[^/]+\//i.test(base);

/** The folder that the task's commands run in: the one that it names, or the one that its path leads to. */
async function folderOf(
  source: PathSource,
  { task, folder, base }: { task: Task; folder: string; base: string },
): Promise<string | undefined> {
  const cwd = normalFolder(task.cwd ?? folder);
  if (cwd === undefined) return undefined;
  const { gitDir, as } = reading(source);
  if (hasFolder(await treeEntries(gitDir, base, { as }), cwd)) return cwd;
  // One that no commit has, such as a build's, is nobody's place to work in.
  if (task.cwd === undefined && !task.verify?.commands?.length) return undefined;
  throw wrongInput(`${noFolder(cwd, base)}: commit it, or say cwd: . for the top`);
}

/** What no worker would check out is refused here; whether a URL answers is for the worker to find out. */
async function checkSubmodules(source: PathSource, { task, base }: { task: Task; base: string }): Promise<void> {
  const { gitDir, as } = reading(source);
  const at = { gitDir, as, commit: base };
  const text = await readAtBase({ baseDir: gitDir, as, commit: base, path: '.fleet.yaml' });
  const file = parseRepoFile(String(text ?? ''));
  const globs = file.ok ? wantedSubmodules(task, file.file) : null;
  const wanted = globs === null ? () => true : matches(globs);
  const planned = await planSubmodules({ source, at, rules: at, wanted, home: homeLayout(resolveHome(process.env)) });
  if (!planned.ok) throw wrongInput(planned.message);
}

async function pinPath(
  path: string,
  { base, continueFrom, deliver, into }: Task,
): Promise<RepoPin & { source: PathSource; folder: string; base: string }> {
  const inspected = orThrow(await inspectRepo(path));
  const { top, folder } = inspected;
  if (deliver === 'pr')
    throw wrongInput(`deliver: pr needs a repository by URL: ${top} is a path, which takes branch, merge or none`);
  const { source } = orThrow(await openSource({ repo: top, mirrorDir: (key) => `/nonexistent/${key}` }));
  if (source.kind === 'url') throw wrongInput(`repo ${top} must be a path here`);
  if (deliver !== 'none' && (await blocksBranches(source))) throw blocked(top);
  const commitOf = async (ref: string) => orThrow(await resolveBase({ source, base: ref })).commit;
  const more = continueFrom === undefined ? {} : { continueFrom: await commitOf(continueFrom) };
  const at = { source, folder, repo: top, ...more };
  if (deliver !== 'merge') return { ...at, base: base === undefined ? inspected.head : await commitOf(base) };
  const target = into ?? inspected.defaultBranch;
  if (!target) throw wrongInput(`into is required: HEAD of ${top} is on no branch`);
  const found = await resolveBase({ source, base: `refs/heads/${target}` });
  if (!found.ok) throw notFound(`into: ${top} has no branch ${target}`);
  const held = await checkedOutAt(source, target);
  if (held) throw wrongInput(checkedOutSentence(target, held));
  return { ...at, base: base === undefined ? found.commit : await commitOf(base), into: target };
}

/** Nothing is fetched: what a remote lists is enough, except for a commit id, which its worker looks for. */
async function pinUrl(url: string, { base, continueFrom, deliver, into }: Task): Promise<RepoPin> {
  const wanted = base ?? into ?? 'HEAD';
  const names = [wanted, ...(continueFrom === undefined ? [] : [continueFrom])].flatMap(namesOf);
  const target = into === undefined ? [] : [`refs/heads/${into}`];
  const listed = await listRemote(url, ['HEAD', 'refs/heads/fleet', ...names, ...target]);
  if (!listed.ok) throw new FleetError(listed.passing ? 'unavailable' : 'not-found', listed.failure.message);
  const { refs, head } = listed;
  if (!refs.size) throw notFound(`${redact(url)} has no commits`);
  if (deliver !== 'none' && refs.has('refs/heads/fleet')) throw blocked(redact(url));
  if (target.some((ref) => !refs.has(ref))) throw notFound(`into: ${redact(url)} has no branch ${into}`);
  const merges = deliver === 'merge' ? { into: into ?? head?.replace('refs/heads/', '') } : {};
  if (deliver === 'merge' && !merges.into) throw wrongInput(`into is required: ${redact(url)} has no default branch`);
  const pinned = merges.into ? { into: merges.into } : {};
  const commitOf = (ref: string): string => {
    const commit =
      ref === 'HEAD'
        ? refs.get('HEAD')
        : namesOf(ref)
            .map((name) => refs.get(name))
            .find(Boolean);
    if (!commit && !/^[0-9a-f]{7,64}$/.test(ref)) throw notFound(`${redact(url)} has no branch, tag or commit ${ref}`);
    return commit ?? ref;
  };
  const more = continueFrom === undefined ? {} : { continueFrom: commitOf(continueFrom) };
  return { base: commitOf(wanted), ...more, ...pinned };
}

/** Full names that a ref may stand for, the first one first. */
const namesOf = (ref: string): string[] =>
  ref.startsWith('refs/') ? [ref, `${ref}^{}`] : [`refs/tags/${ref}^{}`, `refs/heads/${ref}`, `refs/tags/${ref}`];

const NO_SUCH: ReadonlySet<Reason> = new Set<Reason>(['base-missing', 'repo-unavailable']);

function orThrow<T extends { ok: true }>(outcome: T | Failed): T {
  if (!outcome.ok)
    throw new FleetError(
      NO_SUCH.has(outcome.failure.reason) ? 'not-found' : 'invalid-argument',
      outcome.failure.message,
    );
  return outcome;
}

const blocked = (repo: string): FleetError =>
  wrongInput(`${repo} has a branch called fleet, which leaves no room for branches fleet/<task>`, {
    hint: 'rename it with git branch -m fleet <other name>, or use --deliver none',
  });
