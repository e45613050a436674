import { hasFolder, treeEntries } from '../../adapters/git/entries.ts';
import { readAtBase } from '../../adapters/git/worktree/private-repo.ts';
import { readRules } from '../../adapters/artifacts/read-rules.ts';
import { parseRepoFile } from '../../adapters/disk/repo-file.ts';
import { isChecked } from '../../domain/artifact/artifact.ts';
import type { RunRecord } from '../../adapters/state/run-registry.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import {
  checkPolicy,
  limitsFault,
  mergePolicy,
  ruledAt,
  type Policy,
  type PolicyTask,
  type RepoFile,
} from '../../domain/repository/repo-policy.ts';
import type { Task } from '../../domain/task/schema.ts';
import { noFolder, normalFolder } from '../../domain/repository/working-folder.ts';
import type { Deps } from '../worker/context.ts';
import { openOrigin } from './origin.ts';

/** What holds for a task that starts from this base, with what the repository asks for itself. */
export async function readPolicy(
  { config }: Pick<Deps, 'config'>,
  {
    task,
    base,
    baseDir,
    routed,
    agent = false,
  }: {
    task: PolicyTask;
    base: string;
    baseDir: string;
    routed?: RunRecord['limits'] | undefined;
    /** One is to be started: its times must make sense. */
    agent?: boolean;
  },
): Promise<{ ok: true; policy: Policy } | { ok: false; failure: Failure }> {
  const read = await readRepoFile(baseDir, base);
  if (!read.ok) return read;
  const folder = normalFolder(task.cwd);
  if (folder !== undefined && !hasFolder(await treeEntries(baseDir, base), folder))
    return { ok: false, failure: { reason: 'invalid-task', message: noFolder(folder, base) } };
  const worker = { limits: config.limits, ...(routed ? { routed } : {}) };
  const policy = mergePolicy(task, read.file, worker);
  const wrong = checkPolicy(policy) ?? (agent ? limitsFault(task, read.file, worker) : undefined);
  if (wrong) return { ok: false, failure: { reason: 'invalid-task', message: wrong } };
  if (!agent || !policy.artifacts.some(isChecked)) return { ok: true, policy };
  const at = (path: string) => readAtBase({ baseDir, commit: base, path });
  const rules = await readRules(policy.artifacts, async (path) => (await at(path))?.toString('utf8'));
  if (!rules.ok) return { ok: false, failure: { reason: 'invalid-task', message: rules.message } };
  return { ok: true, policy: { ...policy, artifacts: rules.artifacts } };
}

/** As {@link readPolicy}, for a run that starts from `origin`. */
export async function readRunPolicy(
  deps: Pick<Deps, 'config' | 'home'>,
  {
    task,
    origin: { base, baseDir },
    signal,
    ...how
  }: {
    task: Task;
    origin: { base: string; baseDir: string };
    routed?: RunRecord['limits'] | undefined;
    agent?: boolean;
    signal: AbortSignal;
  },
): ReturnType<typeof readPolicy> {
  const at = ruledAt(task, base);
  if (at === base || !task.repo) return readPolicy(deps, { task, base, baseDir, ...how });
  const ruled = await openOrigin(deps, { task, base: at, signal });
  return ruled.ok ? readPolicy(deps, { task, base: ruled.base, baseDir: ruled.baseDir, ...how }) : ruled;
}

async function readRepoFile(
  baseDir: string,
  base: string,
): Promise<{ ok: true; file: RepoFile } | { ok: false; failure: Failure }> {
  const bytes = await readAtBase({ baseDir, commit: base, path: '.fleet.yaml' });
  const parsed = parseRepoFile(bytes?.toString('utf8') ?? '');
  return parsed.ok ? parsed : { ok: false, failure: { reason: 'invalid-task', message: parsed.message } };
}
