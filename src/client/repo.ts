import { machineName } from '../adapters/config-file.ts';
import { redact } from '../adapters/git/git.ts';
import { inspectRepo } from '../adapters/git/inspect.ts';
import { listRemote } from '../adapters/git/mirror.ts';
import type { Failed } from '../adapters/git/outcome.ts';
import { resolveBase } from '../adapters/git/resolve-base.ts';
import { blocksBranches, openSource } from '../adapters/git/source.ts';
import type { Config } from '../config.ts';
import { FleetError } from '../domain/error.ts';
import { isUrl, type Task } from '../domain/task.ts';

/** What becomes of a task's repository: an absolute path with the machine that it is on, and the base as a commit. */
export type RepoPin = { repo?: string; machine?: string; base?: string };

/** @throws FleetError (2) where the repository cannot be worked on, or its base does not exist */
export async function pinRepo(task: Task, config: Config): Promise<RepoPin> {
  if (!task.repo) return {};
  if (isUrl(task.repo)) return pinUrl(task.repo, task);
  const machine = machineName(config);
  // Another machine's repository: that one looks for itself.
  if (task.machine !== undefined && task.machine !== machine) return {};
  return { machine, ...(await pinPath(task.repo, task)) };
}

async function pinPath(path: string, { base, deliver }: Task): Promise<RepoPin> {
  const inspected = orThrow(await inspectRepo(path));
  const { source } = orThrow(await openSource({ repo: inspected.top, mirrorDir: (key) => `/nonexistent/${key}` }));
  if (deliver === 'branch' && (await blocksBranches(source))) throw blocked(inspected.top);
  if (base === undefined) return { repo: inspected.top, base: inspected.head };
  return { repo: inspected.top, base: orThrow(await resolveBase({ source, base })).commit };
}

/** Nothing is fetched: what a remote lists is enough, except for a commit id, which its worker looks for. */
async function pinUrl(url: string, { base = 'HEAD', deliver }: Task): Promise<RepoPin> {
  const branch = base.replace(/^refs\/heads\//, '');
  const names = base.startsWith('refs/')
    ? [base, `${base}^{}`]
    : [`refs/tags/${base}^{}`, `refs/heads/${branch}`, `refs/tags/${base}`];
  const { refs } = orThrow(await listRemote(url, ['HEAD', 'refs/heads/fleet', ...names]));
  if (!refs.size) throw wrong(`${redact(url)} has no commits`);
  if (deliver === 'branch' && refs.has('refs/heads/fleet')) throw blocked(redact(url));
  const commit = base === 'HEAD' ? refs.get('HEAD') : names.map((name) => refs.get(name)).find(Boolean);
  if (commit) return { base: commit };
  if (/^[0-9a-f]{7,64}$/.test(base)) return { base };
  throw wrong(`${redact(url)} has no branch, tag or commit ${base}`);
}

function orThrow<T extends { ok: true }>(outcome: T | Failed): T {
  if (!outcome.ok) throw wrong(outcome.failure.message);
  return outcome;
}

const blocked = (repo: string): FleetError =>
  new FleetError(`${repo} has a branch called fleet, which leaves no room for branches fleet/<task>`, {
    exitCode: 2,
    hint: 'rename it with git branch -m fleet <other name>, or use --deliver none',
  });
const wrong = (message: string): FleetError => new FleetError(message, { exitCode: 2 });
