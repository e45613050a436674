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
/** Of a parked task: try again, with its attempts counted from zero. */
export const retryUpdate = defineUpdate<void, [ParkedWord]>('retry');
/** Of a parked task with a result: deliver what was rejected, on a person's word. */
export const acceptUpdate = defineUpdate<void, [ParkedWord]>('accept');
/** Of a parked task: close it as failed. */
export const giveUpUpdate = defineUpdate<void, [ParkedWord]>('giveUp');

/** To a task that this one depends on: say how you are, now and at each end. */
export const dependantSignal = defineSignal<[{ id: string }]>('dependant');
/** From a task that this one depends on. */
export const dependencySignal = defineSignal<[Dependency]>('dependency');
/** Of a task that no agent works on: what it depends on. */
export const needsUpdate = defineUpdate<void, [{ add: string[]; drop: string[] }]>('needs');
/** Look again at what is waited for: something was missed, e.g. a dependency was terminated. */
export const nudgeSignal = defineSignal<[]>('nudge');
/** 0 (critical) to 100. Of a task that waits, at once. */
export const priorityUpdate = defineUpdate<void, [{ priority: number }]>('priority');
/** Of a task that waits for a person's yes. */
export const approveUpdate = defineUpdate<void, [PersonsWord]>('approve');
export const rejectUpdate = defineUpdate<void, [PersonsWord]>('reject');
/** Of a task whose agent asked: the first answer counts. `question`: its id, where it is known. */
export const answerUpdate = defineUpdate<void, [{ question?: string; answer: string; by: string }]>('answer');
/** From another task, by its callback: for the next run's prompt. */
export const noteSignal = defineSignal<[{ from: string; text: string }]>('note');

/** From an agent outside the fleet, to a task that is for it. */
export const holdUpdate = defineUpdate<TaskView, [{ as: string; leaseMs: number }]>('hold');
/** `commit`: where its work is, of a task with a repository. */
export const completeUpdate = defineUpdate<void, [{ as: string; result: string; commit?: string }]>('complete');
export const failUpdate = defineUpdate<void, [{ as: string; why: string }]>('fail');
export const askUpdate = defineUpdate<{ question: string }, [{ as: string } & Asked]>('ask');

/** From the workflow `scopeLocks`: this task may go on, or who is in its way. */
export const grantedSignal = defineSignal<[ScopeAnswer]>('granted');
/** To `scopeLocks`. */
export const askScopeSignal = defineSignal<[ScopeAsk]>('askScope');
export const leaveScopeSignal = defineSignal<[Pick<ScopeAsk, 'taskId' | 'ticket'>]>('leaveScope');
export const locksQuery = defineQuery<ScopeLocks>('locks');
/** From the workflow `mergeQueue`. */
export const mergedSignal = defineSignal<[MergeAnswer]>('merged');
/** To the workflow `mergeQueue`: a result waits, in place of an earlier one of its task; said again, it changes nothing. */
export const enterMergeSignal = defineSignal<[MergeEntry]>('enter');
/** A task does not want to be merged any more: it is answered once its result was merged, or is not being pushed. */
export const leaveMergeSignal = defineSignal<[{ id: string }]>('leave');

/** From a worker that was lost and came back: what it has of a run that the task does not own any more. */
export const lateResultSignal = defineSignal<[LateResult]>('lateResult');

/** To an open task: what one worker had saved of these runs was removed from there. `at`: ISO */
export const savedGoneSignal = defineSignal<[{ runIds: string[]; at: string }]>('savedGone');

/** To a worker's record: a run that it holds, or held when it was lost, and has to clean up; or a task that it has to forget. */
export const oweSignal = defineSignal<[Owed]>('owe');
/** From the worker: such a debt is cleaned up. */
export const paidSignal = defineSignal<[Owed]>('paid');
/** From the worker: its process is there, and waits for `workerHeartbeat`. */
export const attachSignal = defineSignal<[WorkerFacts]>('attach');
/** From the worker: its process ends as it should. An update, as it may be the last one that can carry the record on. */
export const detachUpdate = defineUpdate<void, [Pick<WorkerFacts, 'since'> & { report: Tally }]>('detach');
/** From the worker: it takes no new work, and no person said so. */
export const troubleSignal = defineSignal<[{ key: string; message: string }]>('trouble');
export const workerQuery = defineQuery<WorkerRecord>('worker');

/** To a credential: a worker's process that has it configured is there, with these runs under it. */
export const namedSignal = defineSignal<[{ holder: SeatHolder; runs: RunRef[] }]>('named');
/** For a run that is claimed: refused (`NoSeat`) where there is none. The same run has the same seat. */
export const leaseUpdate = defineUpdate<{ free: number }, [Omit<Seat, 'since'>]>('lease');
/** The run is over. */
export const giveBackSignal = defineSignal<[{ runId: string; tokens: number }]>('giveBack');
export const reportSignal = defineSignal<[SeatReport]>('report');
/** From a person. */
export const mendedSignal = defineSignal<[{ by: string }]>('mended');
