import { doneByTask } from '../../domain/evidence/done-by.ts';
import { NO_USAGE } from '../../domain/agent/event.ts';
import { briefOf } from '../../domain/people/external-agent.ts';
import type { Receipt } from '../../domain/evidence/receipt.ts';
import type { Dependency } from '../../domain/people/waiting.ts';
import type { RunView, TaskView } from '../../domain/view/task-view.ts';
import type { Claim } from '../../domain/run/claim.ts';
import type { Task } from '../../domain/task/schema.ts';
import { firstClaimQueue } from '../../domain/list/task-row.ts';
import { titleOf } from '../../domain/task/title.ts';
import { stateAtStart, unheard } from '../../domain/scheduling/dependencies.ts';

/** A run as it begins; `at` is ISO. */
export function newRun(claim: Claim, { view, at }: { view: TaskView; at: string }): RunView {
  const { runId, n, worker, machine, hostQueue, coder, rule } = claim;
  // A model that another coder used says nothing of this one's.
  const model = claim.model ?? (view.coder === null || view.coder === coder ? view.model : null);
  return {
    ...{ runId, n, worker, machine, hostQueue, coder, model },
    ...(rule ? { rule } : {}),
    ...(claim.credential ? { credential: claim.credential } : {}),
    ...{ startedAt: at, endedAt: null, reason: null, message: null, counts: false },
    ...{ exitCode: null, commit: null, saved: null, late: null, resumedFrom: null, usage: NO_USAGE, receipts: [] },
  };
}

/** A task as it begins; `createdAt` is ISO. */
export function newTask(id: string, task: Task, createdAt: string): TaskView & { dependsOn: Dependency[] } {
  return {
    id,
    title: titleOf(task),
    type: task.type,
    // Its repository may ask for more, which is known once it is prepared.
    ...(task.repo === undefined ? { doneBy: doneByTask(task) } : {}),
    state: stateAtStart(task),
    since: createdAt,
    reason: null,
    message: null,
    objective: task.objective,
    repo: task.repo ?? null,
    base: task.base ?? null,
    queue: task.queue,
    claimQueue: firstClaimQueue(task),
    priority: task.priority,
    coder: task.coder ?? null,
    model: task.model ?? null,
    worker: null,
    attempts: { used: 0, max: task.retry.maxAttempts },
    runs: [],
    receipts: [],
    verdict: null,
    gate: null,
    branch: null,
    commit: null,
    usage: NO_USAGE,
    labels: task.labels,
    dependsOn: task.dependsOn.map(unheard),
    ...(task.for ? { for: task.for, brief: briefOf(task) } : {}),
    ...(task.parent ? { parent: task.parent } : {}),
    ...(task.continueFrom ? { continueFrom: task.continueFrom } : {}),
    ...(task.proposed ? { proposed: true } : {}),
    ...(task.producer ? { producer: task.producer } : {}),
    createdAt,
    endedAt: null,
    retryAt: null,
    decision: null,
  };
}

/** All runs but the last are kept without evidence. */
export const shortened = (receipts: readonly Receipt[]): RunView['receipts'] =>
  receipts.map(({ kind, ok, summary, digest }) => ({ kind, ok, summary, digest }));
