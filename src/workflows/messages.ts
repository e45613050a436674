import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { LateResult, RunRef, TaskView } from '../domain/run.ts';
import type { Seat, SeatHolder, SeatReport } from '../domain/seats.ts';
import type { Tally, WorkerFacts, WorkerRecord } from '../domain/worker.ts';

/** Signals, updates and queries of `agentTask`, `fleetWorker` and `fleetCredential`: client, workers and workflows share this file. */
export const viewQuery = defineQuery<TaskView>('view');

/** Of a parked task: try again, with its attempts counted from zero. */
export const retryUpdate = defineUpdate<void, [{ why: string }]>('retry');
/** Of a parked task with a result: deliver what was rejected, on a person's word. */
export const acceptUpdate = defineUpdate<void, [{ why: string }]>('accept');
/** Of a parked task: close it as failed. */
export const giveUpUpdate = defineUpdate<void, [{ why: string }]>('giveUp');

/** From a worker that was lost and came back: what it has of a run that the task does not own any more. */
export const lateResultSignal = defineSignal<[LateResult]>('lateResult');

/** To a worker's record: a run that it holds, or held when it was lost, and has to clean up. */
export const oweSignal = defineSignal<[RunRef]>('owe');
/** From the worker: such a debt is cleaned up. */
export const paidSignal = defineSignal<[RunRef]>('paid');
/** From the worker: its process is there, and waits for `attend`. */
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
