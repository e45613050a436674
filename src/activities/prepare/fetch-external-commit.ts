import { failpoint } from '../../adapters/failpoint.ts';
import { sha256 } from '../../adapters/sha256.ts';
import { bringCommit } from '../../adapters/git/worktree/fetch-commit.ts';
import { openSource } from '../../adapters/git/source/source.ts';
import { readJson, writeJson } from '../../adapters/disk/json-file.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import { bothEnds, NO_USAGE } from '../../domain/agent/event.ts';
import { branchOf } from '../../domain/names.ts';
import type { Submission } from '../../domain/people/external-agent.ts';
import type { Launched, RunRef } from '../../domain/view/task-view.ts';
import type { AgentOutcome } from '../../domain/run/outcome.ts';
import { requirePrepared, type Deps } from '../worker/context.ts';
import { cancellable } from '../worker/heartbeat.ts';
import { persist } from '../worker/persist.ts';

export type OutsideInput = RunRef & { handedIn: Submission };

const CLAIM_MAX = 2_000;

/**
 * In the place of an agent: lays what one outside the fleet committed into the run's worktree, for the receipts to be
 * gathered as of any other. A second call repeats the first one's answer.
 */
export async function fetchExternalCommit(deps: Deps, order: OutsideInput): Promise<Launched> {
  const { taskId, runId, handedIn } = order;
  const { prepared } = requirePrepared(deps, order);
  const files = deps.home.run(taskId, runId);
  const known = await readJson<AgentOutcome>(files.outcome);
  if (known) return { ok: true, outcome: known };
  const { task, base, baseDir, policy } = prepared;
  const { as, commit: ref, result } = handedIn;
  if (!task.repo || !ref) throw new Error(`task ${taskId} has no commit to verify`);
  const opened = await openSource({ repo: task.repo, mirrorDir: deps.home.mirror });
  if (!opened.ok) return opened;
  const { source } = opened;
  const startedAt = new Date().toISOString();
  return cancellable(
    () => ({ runId, state: 'running' }),
    (signal) =>
      deps.registry.using(order, async () => {
        signal.throwIfAborted();
        const { resume: dir, tree } = files;
        const place = { base, baseDir, dir, tree, branch: branchOf(taskId), maxBytes: policy.limits.diskBytes };
        const brought = await persist(deps, () => bringCommit({ source, ref, ...place, signal }), signal);
        if (!brought.ok) return brought;
        failpoint('outside.brought');
        await removeTree(dir);
        const outcome = outcomeOf({ outside: { as, ref, commit: brought.commit }, result, startedAt, deps });
        await persist(deps, () => writeJson(files.outcome, outcome), signal);
        failpoint('outside.outcome-written');
        deps.fitness.proved();
        return { ok: true, outcome };
      }),
  );
}

/** Outcome of an external agent: only its own words and its commit are known. */
function outcomeOf(of: {
  outside: NonNullable<AgentOutcome['outside']>;
  result: string;
  startedAt: string;
  deps: Deps;
}): AgentOutcome {
  const { outside, result, startedAt, deps } = of;
  return {
    ...{ exitCode: null, signal: null, stopped: null, leftover: 0, isolation: deps.isolation },
    ...{ startedAt, endedAt: new Date().toISOString(), stdout: NOTHING, stderr: NOTHING },
    ...{ session: null, model: null, ended: null, claim: bothEnds(result, CLAIM_MAX), outside },
    ...{ until: null, usage: NO_USAGE },
  };
}

const NOTHING = { bytes: 0, sha256: sha256('') };
