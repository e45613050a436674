import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { type FleetError, wrongState } from '../../domain/error.ts';
import { acceptUpdate, giveUpUpdate, retryUpdate } from '../../workflows/messages.ts';
import { unanswered } from '../read/no-answer.ts';
import { describeTask, stateOf, viewTask, type TaskReport } from '../read/view.ts';
import { answered, isNotFound, type FleetConnection } from '../connection.ts';

/** What a person may say about a parked task. */
export const DECISIONS = { retry: retryUpdate, accept: acceptUpdate, 'give-up': giveUpUpdate } as const;
export type PersonsDecision = keyof typeof DECISIONS;

const ANSWER_MS = 15_000;
const RETRY_MS = 250;

/** @throws FleetError where the task is not parked, has nothing to accept, or no worker is there to take it */
export const decideTask = (
  wire: FleetConnection,
  id: string,
  { decision, why, by }: { decision: PersonsDecision; why: string; by?: string | undefined },
): Promise<void> =>
  sayTo(wire, id, {
    update: DECISIONS[decision],
    said: { why, ...(by ? { by } : {}) },
    heard: ({ state }) => state !== 'parked',
  });

/**
 * Tells an open task something, once: the workflow's answer. `heard`: whether one sees of the task that just this was heard, for
 * where the answer got lost: that somebody else said something does not count.
 * @throws FleetError (2) with what the workflow says where it refuses; where no worker is there to take it
 */
export async function sayTo<A, R>(
  wire: FleetConnection,
  id: string,
  {
    update,
    said,
    heard = () => false,
  }: { update: UpdateDefinition<R, [A]>; said: A; heard?: (report: TaskReport) => boolean },
): Promise<R> {
  const described = await describeTask(wire, id);
  if (described.status.name !== 'RUNNING') throw closed(id, stateOf(described));
  const handle = wire.client.workflow.getHandle(id, described.runId);
  const wasHeard = async () => heard(await viewTask(wire, id));
  // The server may cancel a call while the workflow is busy with something else; by its id the update is one and the same.
  const updateId = randomUUID();
  const until = Date.now() + ANSWER_MS;
  try {
    for (;;) {
      const taken = await answered(
        wire,
        async () => ({ answer: await handle.executeUpdate(update, { args: [said], updateId }) }),
        until - Date.now(),
      );
      if (taken) return taken.answer;
      // What it would have answered is of no use to anybody then.
      if (await wasHeard()) return undefined as R;
      if (Date.now() >= until) throw await unanswered(wire, described.taskQueue);
      await pause(RETRY_MS);
    }
  } catch (error) {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
      if (await wasHeard()) return undefined as R;
      throw await unanswered(wire, described.taskQueue);
    }
    if (error instanceof WorkflowUpdateFailedError) {
      throw wrongState(`task ${id}: ${error.cause?.message ?? error.message}`, { cause: error.cause });
    }
    if (!isNotFound(error)) throw error;
    const report = await viewTask(wire, id);
    if (heard(report)) return undefined as R;
    throw closed(id, report.state);
  }
}

/** Temporal's cancellation: the worker stops the agent, then the task is `cancelled`. */
export async function cancelTask(wire: FleetConnection, id: string): Promise<void> {
  const described = await describeTask(wire, id);
  if (described.status.name !== 'RUNNING') throw closed(id, stateOf(described));
  try {
    await wire.client.workflow.getHandle(id, described.runId).cancel();
  } catch (error) {
    if (isNotFound(error)) throw closed(id, 'closed');
    throw error;
  }
}

const closed = (id: string, state: string): FleetError => wrongState(`task ${id} is ${state} already`);
