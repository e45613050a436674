import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { FleetError } from '../domain/error.ts';
import { acceptUpdate, giveUpUpdate, retryUpdate } from '../workflows/messages.ts';
import { describeTask, stateOf } from './view.ts';
import { answered, isNotFound, type Wire } from './wire.ts';

/** What a person may say about a parked task. */
export const DECISIONS = { retry: retryUpdate, accept: acceptUpdate, 'give-up': giveUpUpdate } as const;
export type PersonsDecision = keyof typeof DECISIONS;

const ANSWER_MS = 15_000;
const RETRY_MS = 250;

/** @throws FleetError where the task is not parked, has nothing to accept, or no worker is there to take it */
export async function decideTask(
  wire: Wire,
  id: string,
  said: { decision: PersonsDecision; why: string },
): Promise<void> {
  const { decision, why } = said;
  const described = await describeTask(wire, id);
  if (described.status.name !== 'RUNNING') throw closed(id, stateOf(described));
  const handle = wire.client.workflow.getHandle(id, described.runId);
  // The server may cancel a call while the workflow is busy with something else; by its id the update is one and the same.
  const updateId = randomUUID();
  const until = Date.now() + ANSWER_MS;
  try {
    for (;;) {
      const taken = await answered(
        wire,
        async () => {
          await handle.executeUpdate(DECISIONS[decision], { args: [{ why }], updateId });
          return true;
        },
        until - Date.now(),
      );
      if (taken || (await moved(wire, id))) return;
      if (Date.now() >= until) throw silent(described.taskQueue);
      await pause(RETRY_MS);
    }
  } catch (error) {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
      if (await moved(wire, id)) return;
      throw silent(described.taskQueue);
    }
    if (error instanceof WorkflowUpdateFailedError) {
      throw new FleetError(`task ${id}: ${error.cause?.message ?? error.message}`, { exitCode: 2 });
    }
    throw error;
  }
}

/** The decision was heard, though its answer got lost: the task is not parked any more. */
async function moved(wire: Wire, id: string): Promise<boolean> {
  return stateOf(await describeTask(wire, id)) !== 'parked';
}

/** Temporal's cancellation: the worker stops the agent, then the task is `cancelled`. */
export async function cancelTask(wire: Wire, id: string): Promise<void> {
  const described = await describeTask(wire, id);
  if (described.status.name !== 'RUNNING') throw closed(id, stateOf(described));
  try {
    await wire.client.workflow.getHandle(id, described.runId).cancel();
  } catch (error) {
    if (isNotFound(error)) throw closed(id, 'closed');
    throw error;
  }
}

const closed = (id: string, state: string): FleetError =>
  new FleetError(`task ${id} is ${state} already`, { exitCode: 2 });
const silent = (queue: string): FleetError =>
  new FleetError(`no attached worker answers on queue ${queue}`, { hint: 'start one with fleet worker' });
