import { openSource } from '../../adapters/git/source/source.ts';
import { openSubmodules } from '../../adapters/git/source/submodules.ts';
import { matches } from '../../adapters/glob.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import type { Policy } from '../../domain/repository/repo-policy.ts';
import type { Submodules } from '../../domain/repository/submodule.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { Deps } from '../worker/context.ts';

const NONE: Submodules = { ok: true, submodules: [] };

/** Brings the submodules of a commit that the policy wants, from where those of the base come from; each commit is asked for once. */
export function submodulesFrom(
  { home }: Pick<Deps, 'home'>,
  of: Pick<Prepared, 'base' | 'baseDir'> & {
    task: Pick<Task, 'repo'>;
    policy: Pick<Policy, 'submodules'>;
    signal: AbortSignal;
  },
): (at: { gitDir: string; commit: string }) => Promise<Submodules> {
  const { task, policy, base, baseDir, signal } = of;
  const wanted = policy.submodules === null ? () => true : matches(policy.submodules);
  const known = new Map<string, Promise<Submodules>>();
  const open = async (at: { gitDir: string; commit: string }): Promise<Submodules> => {
    if (!task.repo || policy.submodules?.length === 0) return NONE;
    const opened = await openSource({ repo: task.repo, mirrorDir: home.mirror });
    if (!opened.ok) return { ok: false, why: 'unreachable', message: opened.failure.message };
    return openSubmodules({
      ...{ source: opened.source, at, rules: { gitDir: baseDir, commit: base }, wanted, home, signal },
    });
  };
  return async (at) => {
    const asked = known.get(at.commit) ?? open(at);
    known.set(at.commit, asked);
    const answer = await asked.catch((error: unknown) => {
      known.delete(at.commit);
      throw error;
    });
    if (!answer.ok) known.delete(at.commit);
    return answer;
  };
}
