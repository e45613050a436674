import { randomBytes } from 'node:crypto';
import { WorkflowFailedError } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { FleetError, notFound } from '../../domain/error.ts';
import type { Answers, FilePiece, Question, TaskFile } from '../../domain/people/question.ts';
import type { RunView } from '../../domain/view/task-view.ts';
import { unansweredBy } from './no-answer.ts';
import { viewTask } from './view.ts';
import type { FleetConnection } from '../connection.ts';

/** Whom to ask, by way of which queue: any worker there passes the question on to the one that holds the answer. */
interface Addressee {
  worker: string;
  hostQueue: string;
  /** A queue whose workflows some worker works on. */
  queue: string;
}

const TIMEOUT_MS = 20_000;
/** It goes to a remote. */
const BRANCH_MS = 130_000;

/** Undefined: that worker did not answer in time. @throws FleetError with what the worker itself said was wrong */
export async function ask<Q extends Question>(
  wire: FleetConnection,
  to: Addressee,
  question: Q,
): Promise<Answers[Q['ask']] | undefined> {
  const workflowId = `ask-${randomBytes(8).toString('hex')}`;
  try {
    const answer: unknown = await wire.client.workflow.execute('askWorker', {
      workflowId,
      taskQueue: to.queue,
      args: [{ hostQueue: to.hostQueue, question }],
      workflowExecutionTimeout:
        question.ask === 'branch' ? BRANCH_MS : TIMEOUT_MS + ('waitMs' in question ? question.waitMs : 0),
    });
    return answer as Answers[Q['ask']];
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const cause = error.cause instanceof ActivityFailure ? error.cause.cause : error.cause;
    if (cause instanceof ApplicationFailure) throw new FleetError('failed', `worker ${to.worker}: ${cause.message}`);
    return undefined;
  } finally {
    // Logs stay out of the histories that the server keeps; where it does not let us, they go with its retention.
    const gone = { namespace: wire.client.options.namespace, workflowExecution: { workflowId } };
    void wire.client.workflowService.deleteWorkflowExecution(gone).catch(() => undefined);
  }
}

/** A piece of what a run left on its worker: the log, the receipts, the diff… */
export interface FileRequest {
  file: TaskFile;
  /** The run's number; the last one by default. */
  n?: number;
  offset?: number;
  /** How long the worker may wait for bytes behind the offset. */
  waitMs?: number;
}

/** @throws FleetError where the task had no such run, or its worker does not answer */
export async function readTaskFile(wire: FleetConnection, id: string, request: FileRequest): Promise<FilePiece> {
  return readRunFile(wire, await findRun(wire, id, request.n), request);
}

export interface RunPlace extends Pick<RunView, 'n' | 'worker' | 'hostQueue'> {
  taskId: string;
  queue: string;
}

/** Where a run of a task is kept. */
export async function findRun(wire: FleetConnection, id: string, n?: number): Promise<RunPlace> {
  const { runs, queue, partial, message } = await viewTask(wire, id);
  const run = n === undefined ? runs.at(-1) : runs.find((other) => other.n === n);
  if (run) return { taskId: id, queue, n: run.n, worker: run.worker, hostQueue: run.hostQueue };
  if (partial && message) throw new FleetError('unavailable', message, { hint: 'start a worker with fleet worker' });
  if (n !== undefined) throw notFound(`task ${id} has no run ${n}`);
  throw new FleetError('not-ready', `task ${id} has had no run yet`, {
    hint: `fleet explain ${id} says what it waits for`,
  });
}

export async function readRunFile(wire: FleetConnection, run: RunPlace, request: FileRequest): Promise<FilePiece> {
  const { file, offset = 0, waitMs = 0 } = request;
  const { taskId, n } = run;
  const piece = await ask(wire, run, { ask: 'file', taskId, n, file, offset, waitMs });
  if (piece) return piece;
  throw await unansweredBy(wire, { name: run.worker, hostQueue: run.hostQueue });
}
