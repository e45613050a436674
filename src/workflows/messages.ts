import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { LateResult, RunRef, TaskView } from '../domain/view/task-view.ts';
import type { Asked, Dependency, PersonsWord } from '../domain/people/waiting.ts';
import type { MergeAnswer, MergeEntry } from '../domain/deliver/merge.ts';
import type { ScopeAnswer, ScopeAsk, ScopeLocks } from '../domain/scheduling/scope-locks.ts';
import type { Seat, SeatHolder, SeatReport } from '../domain/scheduling/seats.ts';
import type { Owed, Tally, WorkerFacts, WorkerRecord } from '../domain/worker/worker.ts';

/** Signals, updates and queries of `agentTask`, `fleetWorker` and `fleetCredential`: client, workers and workflows share this file. */
export const viewQuery = defineQuery<TaskView>('view');

/** `by`: who says it, where that is known. */
export interface ParkedWord {
  why: string;
  by?: string;
}
/** Retries a parked task and counts its attempts from zero. */
export const retryUpdate = defineUpdate<void, [ParkedWord]>('retry');
/** Delivers the rejected result of a parked task, because a person says so. */
export const acceptUpdate = defineUpdate<void, [ParkedWord]>('accept');
/** Closes a parked task as failed. */
export const giveUpUpdate = defineUpdate<void, [ParkedWord]>('giveUp');

/** Asks a dependency to report its state, now and whenever it changes. */
export const dependantSignal = defineSignal<[{ id: string }]>('dependant');
/** A dependency reports its state. */
export const dependencySignal = defineSignal<[Dependency]>('dependency');
/** Changes what a task depends on, while no agent works on it. */
export const needsUpdate = defineUpdate<void, [{ add: string[]; drop: string[] }]>('needs');
/** Makes a task check its dependencies again, e.g. after one was terminated. */
export const nudgeSignal = defineSignal<[]>('nudge');
/** Sets the priority, 0 (critical) to 100. A waiting task uses it at once. */
export const priorityUpdate = defineUpdate<void, [{ priority: number }]>('priority');
/** Answer a task that waits for approval. */
export const approveUpdate = defineUpdate<void, [PersonsWord]>('approve');
export const rejectUpdate = defineUpdate<void, [PersonsWord]>('reject');
/** Answers the agent's question; the first answer counts. `question`: its id, where it is known. */
export const answerUpdate = defineUpdate<void, [{ question?: string; answer: string; by: string }]>('answer');
/** Another task's callback adds a note to the next run's prompt. */
export const noteSignal = defineSignal<[{ from: string; text: string }]>('note');

/** An external agent takes or renews the lease of a task that is for it. */
export const holdUpdate = defineUpdate<TaskView, [{ as: string; leaseMs: number }]>('hold');
/** It hands in its result. `commit`: where the work is, for a task with a repository. */
export const completeUpdate = defineUpdate<void, [{ as: string; result: string; commit?: string }]>('complete');
export const failUpdate = defineUpdate<void, [{ as: string; why: string }]>('fail');
export const askUpdate = defineUpdate<{ question: string }, [{ as: string } & Asked]>('ask');

/** `scopeLocks` lets this task go on, or names what blocks it. */
export const grantedSignal = defineSignal<[ScopeAnswer]>('granted');
/** Ask `scopeLocks` for a scope, and give it back. */
export const askScopeSignal = defineSignal<[ScopeAsk]>('askScope');
export const leaveScopeSignal = defineSignal<[Pick<ScopeAsk, 'taskId' | 'ticket'>]>('leaveScope');
export const locksQuery = defineQuery<ScopeLocks>('locks');
/** `mergeQueue` reports a task's place, or what came of its merge. */
export const mergedSignal = defineSignal<[MergeAnswer]>('merged');
/** Adds a result to `mergeQueue`; it replaces an earlier one of the same task. Idempotent. */
export const enterMergeSignal = defineSignal<[MergeEntry]>('enter');
/** Takes a task out of `mergeQueue`. It is answered once its result was merged, or is not being pushed. */
export const leaveMergeSignal = defineSignal<[{ id: string }]>('leave');

/** A worker that was lost and came back offers its result of a run that the task gave up. */
export const lateResultSignal = defineSignal<[LateResult]>('lateResult');

/** A worker has removed the saved work of these runs. `at`: ISO */
export const savedGoneSignal = defineSignal<[{ runIds: string[]; at: string }]>('savedGone');

/** Adds a clean-up debt to a worker's record: a run that it held when it was lost, or a task whose data it has to remove. */
export const oweSignal = defineSignal<[Owed]>('owe');
/** The worker has settled a clean-up debt. */
export const paidSignal = defineSignal<[Owed]>('paid');
/** The worker's process is up and waits for `workerHeartbeat`. */
export const attachSignal = defineSignal<[WorkerFacts]>('attach');
/** The worker's process ends in order. An update, because no other worker may be left to process a signal. */
export const detachUpdate = defineUpdate<void, [Pick<WorkerFacts, 'since'> & { report: Tally }]>('detach');
/** The worker takes no new work, for a reason of its own. */
export const troubleSignal = defineSignal<[{ key: string; message: string }]>('trouble');
export const workerQuery = defineQuery<WorkerRecord>('worker');

/** Registers a worker's process as a holder of the credential, with its runs that use it. */
export const namedSignal = defineSignal<[{ holder: SeatHolder; runs: RunRef[] }]>('named');
/** Leases a seat for a run. Fails with `NoSeat` where none is free. Idempotent by run. */
export const leaseUpdate = defineUpdate<{ free: number }, [Omit<Seat, 'since'>]>('lease');
/** Returns the seat of a run that has ended. */
export const giveBackSignal = defineSignal<[{ runId: string; tokens: number }]>('giveBack');
export const reportSignal = defineSignal<[SeatReport]>('report');
/** A person says that the credential works again. */
export const mendedSignal = defineSignal<[{ by: string }]>('mended');
