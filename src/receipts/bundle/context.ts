import type { RunRecord } from '../../adapters/state/run-registry.ts';
import type { Required } from '../../domain/evidence/receipt.ts';
import type { Policy } from '../../domain/repository/repo-policy.ts';
import type { HeldOut, Task } from '../../domain/task/schema.ts';
import type { Evidence, ResultTree } from '../../ports.ts';
import { digestOf } from '../canonical.ts';
import type { Asked, SealContext, Subject } from './statement.ts';

/** What the worker of a run seals its receipts with. */
export function runContext(
  record: Pick<RunRecord, 'taskId' | 'runId' | 'n' | 'workflowRunId' | 'coder'>,
  { task, policy, outcome, result }: Pick<Evidence, 'task' | 'policy' | 'outcome' | 'result'>,
  own: { required: Required } & Pick<SealContext, 'worker' | 'nonce' | 'at'>,
): SealContext {
  const { taskId, runId, n, workflowRunId, coder } = record;
  const { stdout, stderr, startedAt, endedAt, model } = outcome;
  return {
    ...{ task: taskId, runId, n, workflowRunId, coder, model, startedAt, endedAt, ...own },
    base: result.base,
    subject: subjectOf(result),
    asked: asked(task, policy),
    where: policy.checks.where,
    output: { stdout: stdout.sha256, stderr: stderr.sha256 },
  };
}

function subjectOf({ base, commit, tree, changes, violations }: ResultTree): Subject {
  const sha256 = digestOf({ base, commit, tree, changes, violations });
  return { gitCommit: commit, ...(tree ? { gitTree: tree } : {}), sha256 };
}

/** The task and what held for it, with a digest in the place of each held-out check: a bundle may be shown to anybody. */
export function asked(task: Task, policy: Policy): Asked {
  const { verify, ...rest } = task;
  const { checks } = policy;
  return {
    task: { ...rest, ...(verify ? { verify: { ...verify, heldOut: (verify.heldOut ?? []).map(hidden) } } : {}) },
    policy: { ...policy, checks: { ...checks, heldOut: checks.heldOut.map(hidden) } },
  };
}

const hidden = (check: HeldOut): { sha256: string } => ({ sha256: digestOf(check) });
