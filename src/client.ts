import type { Client } from '@temporalio/client';
import { connectClient, ensureSearchAttributes } from './adapters/connection.ts';
import { admitTasks, type Admitted, type Order } from './client/admit.ts';
import { findRun, readRunFile, readTaskFile, type FileRequest, type RunPlace } from './client/ask.ts';
import {
  deliverWinner,
  dropLosers,
  findComparison,
  readCandidate,
  startComparison,
  type Comparison,
} from './client/compare.ts';
import { cancelTask, decideTask } from './client/decide.ts';
import { listCredentials, mendCredential } from './client/credentials.ts';
import { explainReport, explainTask, type Explanation } from './client/explain.ts';
import { followTask, waitForTask, type FollowOptions } from './client/follow.ts';
import { listTasks, TASK_STATES, type TaskFilter } from './client/list.ts';
import { sealFor } from './client/seal.ts';
import { startTask } from './client/start.ts';
import { taskFigures } from './client/stats.ts';
import { isSettled, viewTask, type TaskReport } from './client/view.ts';
import { mapBounded, type Wire } from './client/wire.ts';
import {
  giveOrder,
  listOrders,
  untilObeyed,
  untilStopped,
  withdrawOrder,
  workersNamed,
  type StandingOrder,
  type Stopped,
} from './client/orders.ts';
import { isAttached, listWorkers, type FleetWorker } from './client/workers.ts';
import { loadConfig, resolveHome, type Config } from './config.ts';
import type { FilePiece } from './domain/question.ts';
import type { CredentialRecord } from './domain/seats.ts';
import type { Candidate } from './domain/compare.ts';
import type { TaskFigures } from './domain/stats.ts';
import type { TaskInput } from './domain/task.ts';
import type { FleetOrder } from './domain/worker.ts';

/** With src/client/*: the only files that start, signal, query and list tasks. */

export { FleetError } from './domain/error.ts';
export type {
  CredentialRecord,
  Explanation,
  FileRequest,
  FleetOrder,
  FleetWorker,
  FollowOptions,
  Order,
  RunPlace,
  StandingOrder,
  Stopped,
  TaskFilter,
  TaskInput,
  TaskReport,
};
export { isSettled, TASK_STATES };

export interface FleetOptions {
  /** Where FLEET_HOME and Temporal's own variables are looked up; default: the process's. */
  env?: NodeJS.ProcessEnv;
  /** Default: `$FLEET_HOME/config.yaml`. */
  config?: Config;
}

/** Connects as the CLI does. @throws FleetError where no server answers. Close it, or declare it with `await using`. */
export async function connectFleet({ env = process.env, config }: FleetOptions = {}): Promise<Fleet> {
  const settings = config ?? loadConfig({ home: resolveHome(env), env });
  const { client, connection, target } = await connectClient(env);
  return new Fleet(
    { client, config: settings },
    {
      prepare: () => ensureSearchAttributes(connection, target.namespace),
      close: () => connection.close(),
    },
  );
}

/** An order as a person gives it; `by` is shown to everybody. */
export type Said = Omit<FleetOrder, 'at'>;
export interface OrderGiven {
  order: FleetOrder | null;
  /** Those of that name, attached or not. */
  workers: FleetWorker[];
  withdrawn: boolean;
  /** What stands for all workers. */
  fleetOrder: FleetOrder | null;
}

const WIDTH = 8;

/** A fleet as its clients see it. Every method that names a task throws a FleetError (2) where there is none. */
export class Fleet implements AsyncDisposable {
  readonly #wire: Wire;
  readonly #ends: { prepare(): Promise<void>; close(): Promise<void> };

  constructor(wire: Wire, ends: { prepare(): Promise<void>; close(): Promise<void> }) {
    this.#wire = wire;
    this.#ends = ends;
  }

  /** Checks and starts one task; gives its id. */
  async enqueue(input: TaskInput, options: { id?: string } = {}): Promise<string> {
    const [started] = await this.enqueueAll([{ input, ...options }]);
    return started!.id;
  }

  /** Checks all, then starts all: one wrong, and none is started. `started` hears of each as soon as it is there. */
  async enqueueAll(orders: readonly Order[], started: (id: string) => void = () => {}): Promise<Admitted[]> {
    const admitted = await admitTasks(this.#wire, orders);
    await this.#ends.prepare();
    await mapBounded(admitted, WIDTH, async ({ id, task }) => {
      await startTask(this.#wire, id, task);
      started(id);
    });
    return admitted;
  }

  view = (id: string): Promise<TaskReport> => viewTask(this.#wire, id);
  /** What lists say of closed and parked tasks, for statistics. */
  figures = (of: { since?: Date | undefined } = {}): Promise<TaskFigures[]> => taskFigures(this.#wire, of);
  list = (filter: TaskFilter = {}): Promise<TaskReport[]> => listTasks(this.#wire, filter);
  /** The task as it goes, until it is settled. */
  follow = (id: string, options: FollowOptions = {}): AsyncGenerator<TaskReport> => followTask(this.#wire, id, options);
  /** The task once it is closed or parked; undefined where the time ran out first. */
  wait = (id: string, timeoutMs?: number): Promise<TaskReport | undefined> => waitForTask(this.#wire, id, timeoutMs);

  /** One task on several coders: see `fleet compare`. Gives the task ids by coder; a second time it goes on with them. */
  async startComparison(comparison: Comparison): Promise<Map<string, string>> {
    await this.#ends.prepare();
    return startComparison(this.#wire, comparison);
  }
  findComparison = (id: string): Promise<Map<string, string>> => findComparison(this.#wire, id);
  readCandidate = (spec: string, id: string): Promise<Candidate> => readCandidate(this.#wire, spec, id);
  /** To `fleet/<id>` of its repository. */
  deliverWinner = (id: string, winner: Candidate): Promise<string> => deliverWinner(this.#wire, id, winner);
  dropLosers = (losers: readonly Candidate[]): Promise<string[]> => dropLosers(this.#wire, losers);

  cancel = (id: string): Promise<void> => cancelTask(this.#wire, id);
  /** The next three: of a parked task. */
  retry = (id: string, why = ''): Promise<void> => decideTask(this.#wire, id, { decision: 'retry', why });
  accept = (id: string, why: string): Promise<void> => decideTask(this.#wire, id, { decision: 'accept', why });
  giveUp = (id: string, why = ''): Promise<void> => decideTask(this.#wire, id, { decision: 'give-up', why });

  /** A piece of what a run left on its worker. */
  read = (id: string, request: FileRequest): Promise<FilePiece> => readTaskFile(this.#wire, id, request);
  findRun = (id: string, n?: number): Promise<RunPlace> => findRun(this.#wire, id, n);
  readRun = (run: RunPlace, request: FileRequest): Promise<FilePiece> => readRunFile(this.#wire, run, request);

  /** Those that are attached, were lost, or left a few days ago. */
  workers = (): Promise<FleetWorker[]> => listWorkers(this.#wire);
  isAttached = isAttached;
  /** Text for `verify.heldOut` that only workers of these names can read. @throws FleetError (2) where one is unknown */
  seal = (text: string, workers: readonly string[]): Promise<string> => sealFor(this.#wire, text, workers);

  /** The credentials that workers have named, with their seats and limits. */
  credentials = (): Promise<CredentialRecord[]> => listCredentials(this.#wire);
  /** A refused or resting credential is used again; gives how it was. @throws FleetError (2) where there is none */
  mendCredential = (name: string, by: string): Promise<CredentialRecord> => mendCredential(this.#wire, name, by);

  /** What people ordered workers, and stands. */
  orders = (): Promise<StandingOrder[]> => listOrders(this.#wire);
  /** Replaces the last order to all; workers obey within seconds, those that attach later at once. */
  async orderAll(said: Said): Promise<FleetOrder> {
    const order = { ...said, at: new Date().toISOString() };
    await giveOrder(this.#wire, { ...order, worker: null });
    return order;
  }
  /** As `orderAll`, for one worker. @throws FleetError (2) where none of that name was ever attached */
  async orderWorker(worker: string, said: Said): Promise<OrderGiven> {
    const workers = await workersNamed(this.#wire, worker);
    const order = { ...said, at: new Date().toISOString() };
    await giveOrder(this.#wire, { ...order, worker });
    return { order, workers, withdrawn: false, fleetOrder: null };
  }
  /** Withdraws the order to all; `orders` are those of single workers, which stand. */
  async resumeAll(by: string): Promise<{ withdrawn: boolean; orders: StandingOrder[] }> {
    const withdrawn = await withdrawOrder(this.#wire, { worker: null, by });
    return { withdrawn, orders: (await this.orders()).filter(({ worker }) => worker !== null) };
  }
  /** Withdraws the order to one worker. @throws FleetError (2) where none of that name was ever attached */
  async resumeWorker(worker: string, by: string): Promise<OrderGiven> {
    const workers = await workersNamed(this.#wire, worker);
    const withdrawn = await withdrawOrder(this.#wire, { worker, by });
    const [fleetOrder = null] = (await this.orders()).filter((order) => order.worker === null);
    return { order: null, workers, withdrawn, fleetOrder };
  }
  /** Until every attached worker has said that its agents are down, for 30 s at most. */
  untilStopped = (order: FleetOrder): Promise<Stopped> => untilStopped(this.#wire, order);
  /** Until those workers have obeyed the order, or its withdrawal: they hold, left, were lost, or take new work again. */
  untilObeyed = (awaited: { hostQueues: readonly string[]; order: FleetOrder | null }): Promise<FleetWorker[]> =>
    untilObeyed(this.#wire, awaited);

  /** Why it is not running, or not done, in one sentence. */
  explain = (id: string): Promise<Explanation> => explainTask(this.#wire, id);
  /** As `explain`, of a report that is at hand. */
  explainReport = (report: TaskReport): Promise<Explanation> => explainReport(this.#wire, report);

  /** Temporal's own client, for what is not here. */
  get temporal(): Client {
    return this.#wire.client;
  }

  close = (): Promise<void> => this.#ends.close();
  [Symbol.asyncDispose] = (): Promise<void> => this.close();
}
