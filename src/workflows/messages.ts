import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { LateResult, RunRef, TaskView } from '../domain/run.ts';

/** Signals, updates and queries of `agentTask`: client and workflow share this file. */
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
