import { parseDocument } from 'yaml';
import { readAtBase } from '../adapters/git/private-repo.ts';
import type { RunRecord } from '../adapters/run-registry.ts';
import type { Failure } from '../domain/failure.ts';
import { checkPolicy, mergePolicy, repoFile, type Policy, type RepoFile } from '../domain/repo-policy.ts';
import { firstIssue, type Task } from '../domain/task.ts';
import type { Deps } from './context.ts';

/** What holds for a task that starts from this base, with what the repository asks for itself. */
export async function readPolicy(
  { config }: Pick<Deps, 'config'>,
  {
    task,
    base,
    baseDir,
    routed,
  }: { task: Task; base: string; baseDir: string; routed?: RunRecord['limits'] | undefined },
): Promise<{ ok: true; policy: Policy } | { ok: false; failure: Failure }> {
  const read = await readRepoFile(baseDir, base);
  if (!read.ok) return read;
  const policy = mergePolicy(task, read.file, { limits: config.limits, ...(routed ? { routed } : {}) });
  const wrong = checkPolicy(policy);
  return wrong ? { ok: false, failure: { reason: 'invalid-task', message: wrong } } : { ok: true, policy };
}

async function readRepoFile(
  baseDir: string,
  base: string,
): Promise<{ ok: true; file: RepoFile } | { ok: false; failure: Failure }> {
  const bytes = await readAtBase({ baseDir, commit: base, path: '.fleet.yaml' });
  const invalid = (message: string) =>
    ({ ok: false, failure: { reason: 'invalid-task', message: `.fleet.yaml: ${message}` } }) as const;
  const document = parseDocument(bytes?.toString('utf8') ?? '');
  if (document.errors[0]) return invalid(document.errors[0].message.split('\n', 1)[0] ?? 'not YAML');
  const parsed = repoFile.safeParse(document.toJS() ?? {});
  return parsed.success ? { ok: true, file: parsed.data } : invalid(firstIssue(parsed.error));
}
