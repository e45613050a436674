import type { Client } from '@temporalio/client';
import { connectClient, ensureSearchAttributes } from './adapters/temporal/connection.ts';
import { identifyServer, type ServerIdentity } from './adapters/temporal/server-identity.ts';
import { admitTasks, type Admitted, type Order } from './client/start/admit.ts';
import { findRun, readRunFile, readTaskFile, type FileRequest, type RunPlace } from './client/read/read-log.ts';
import {
  deliverWinner,
  dropLosers,
  findComparison,
  readCandidate,
  startComparison,
  type Comparison,
} from './client/start/compare.ts';
import { cancelMany, findOpen, type Cancelled, type OpenTasks } from './client/act/cancel-many.ts';
import { cancelTask, decideTask } from './client/act/decide.ts';
import { answerTask, approveTask } from './client/act/answer-approve.ts';
import { coders, handOffTask } from './client/start/hand-off.ts';
import { listCredentials, mendCredential } from './client/fleet/credentials.ts';
import { readInbox } from './client/read/inbox.ts';
import { explainReport, explainTask, type Explanation } from './client/explain/explain.ts';
import { followTask, waitForTask, type FollowOptions } from './client/read/follow.ts';
import { listMerges } from './client/fleet/merges.ts';
import type { Merges } from './domain/deliver/merge.ts';
import { countOpen, listTasks, TASK_STATES, type ListedTask, type TaskFilter } from './client/read/list.ts';
import { listGraph } from './client/read/graph.ts';
import { Patrol } from './client/act/patrol.ts';
import { Schedules } from './client/start/schedules.ts';
import { ChannelCalls } from './client/act/channel-calls.ts';
import { changeNeeds, setPriority } from './client/act/priority-and-needs.ts';
import { askFor, claimFor, completeFor, failFor, listFor } from './client/act/outside.ts';
import { sealFor } from './client/act/seal.ts';
import { Shipping } from './client/start/ship.ts';
import { SavedWork } from './client/act/saved-work.ts';
import { standingOf } from './client/overview/standing.ts';
import { startAll, startMissing } from './client/start/start.ts';
import { taskFigures } from './client/read/stats.ts';
import { isSettled, viewTask, type TaskReport } from './client/read/view.ts';
import type { Ends, FleetConnection } from './client/connection.ts';
import { Orders } from './client/act/order-store.ts';
import { isAttached, listWorkers, type FleetWorker } from './client/fleet/workers.ts';
import { loadConfig, resolveHome, type Config } from './config.ts';
import { FleetError } from './domain/error.ts';
import type { FilePiece } from './domain/people/question.ts';
import type { By } from './domain/people/follow-up-limits.ts';
import type { FollowUpInput } from './domain/people/outbox.ts';
import type { CredentialRecord } from './domain/scheduling/seats.ts';
import type { Candidate } from './domain/list/compare.ts';
import type { InboxItem } from './domain/list/inbox.ts';
import type { GraphNode } from './domain/scheduling/graph.ts';
import type { TaskView } from './domain/view/task-view.ts';
import type { TaskState } from './domain/task/state.ts';
import type { TaskFigures } from './domain/list/stats.ts';
import { taskInput, type TaskInput } from './domain/task/schema.ts';
import type { PersonsWord } from './domain/people/waiting.ts';

/** With src/client/*: the only files that start, signal, query and list tasks. */

export { FleetError, isSettled, TASK_STATES, taskInput };
export type { FleetOrder, OrderGiven, Said, StandingOrder, Stopped } from './client/act/order-store.ts';
export type {
  Admitted,
  CredentialRecord,
  Explanation,
  FileRequest,
  FleetWorker,
  FollowUpInput,
  FollowOptions,
  InboxItem,
  ListedTask,
  Order,
  RunPlace,
  TaskFilter,
  TaskInput,
  TaskReport,
};

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
      identify: () => identifyServer(connection, target.namespace),
      close: () => connection.close(),
    },
  );
}

/** A fleet as its clients see it. Every method that names a task throws a FleetError (2) where there is none. */
export class Fleet implements AsyncDisposable {
  readonly #wire: FleetConnection;
  /** What people ordered workers. */
  readonly orders: Orders;
  /** Tasks that are put into the queue on a calendar. */
  readonly schedules: Schedules;
  readonly patrol: Patrol;
  readonly shipping: Shipping;
  /** What runs have left that was not delivered. */
  readonly saved: SavedWork;
  readonly channel: ChannelCalls;
  readonly #ends: Ends;

  constructor(wire: FleetConnection, ends: Ends) {
    this.#wire = wire;
    this.orders = new Orders(wire);
    this.schedules = new Schedules(wire);
    this.patrol = new Patrol(wire);
    this.shipping = new Shipping(wire, ends);
    this.saved = new SavedWork(wire);
    this.channel = new ChannelCalls(wire, ends);
    this.#ends = ends;
  }

  /** Checks and starts one task; gives its id. The same `key` again gives the same task: no second one is made. */
  async enqueue(input: TaskInput, options: { id?: string; key?: string } = {}): Promise<string> {
    const [started] = await this.enqueueAll([{ input, ...options }]);
    return started!.id;
  }

  /**
   * Checks all, then starts all, what others depend on first: one wrong, and none is started. `started` hears of each as soon
   * as it is there.
   */
  async enqueueAll(orders: readonly Order[], started: (one: Admitted) => void = () => {}): Promise<Admitted[]> {
    const admitted = await admitTasks(this.#wire, orders);
    await this.#ends.prepare();
    await startAll(this.#wire, admitted, started);
    return admitted;
  }

  /** Checks as `enqueueAll` does, and starts nothing. */
  admit = (orders: readonly Order[]): Promise<Admitted[]> => admitTasks(this.#wire, orders);
  /** Starts what was admitted; a task that is there already is left as it is. */
  async startAdmitted(admitted: readonly Admitted[]): Promise<void> {
    if (admitted.length) await this.#ends.prepare();
    await startMissing(this.#wire, admitted);
  }
  /** Which database answers, and how long it remembers. */
  identify = (): Promise<ServerIdentity> => this.#ends.identify();

  /**
   * Makes a follow-up of a task, in nothing wider than that one; it waits for a person, where no rule of `handOff` allows it.
   * @throws FleetError (2) naming the field, or the rule that forbids it
   */
  handOff = (parent: string, followUp: FollowUpInput, said: { from: string; by: By; id?: string }): Promise<string> =>
    this.#ends.prepare().then(() => handOffTask(this.#wire, parent, { ...said, followUp }));

  isCoder = async (name: string): Promise<boolean> => (await coders(this.#wire))(name);
  view = (id: string): Promise<TaskReport> => viewTask(this.#wire, id);
  /** What lists say of closed and parked tasks, for statistics. */
  figures = (of: { since?: Date | undefined } = {}): Promise<TaskFigures[]> => taskFigures(this.#wire, of);
  /** All tasks that the server remembers with what they wait for; no worker is asked. */
  graph = (): Promise<GraphNode[]> => listGraph(this.#wire);
  /** How those stand that are tasks; no worker is asked. */
  standing = (ids: readonly string[]): Promise<Map<string, TaskState>> => standingOf(this.#wire, ids);
  /** By the server's list, which lags a little, as do the others; no worker is asked. */
  list = async (filter: TaskFilter = {}): Promise<ListedTask[]> => {
    if (filter.states) await this.#ends.prepare(); // An attribute that nobody registered yet is refused.
    return listTasks(this.#wire, filter);
  };
  countOpen = (states: readonly TaskState[] = TASK_STATES): Promise<number> => countOpen(this.#wire, states);
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
  /** Each that could not be says why; with `states` only those that are still in one. */
  cancelMany = (ids: readonly string[], only: { states?: readonly TaskState[] } = {}): Promise<Cancelled[]> =>
    cancelMany(this.#wire, ids, only);
  /** Ids of open tasks, `most` at most. */
  findOpen = (wanted: OpenTasks, most: number): Promise<string[]> => findOpen(this.#wire, wanted, most);
  /** The next three: of a parked task. */
  retry = (id: string, why = '', by?: string) => decideTask(this.#wire, id, { decision: 'retry', why, by });
  accept = (id: string, why: string, by?: string) => decideTask(this.#wire, id, { decision: 'accept', why, by });
  /** Answers the agent of a task: the first answer counts. `question`: its id, so that it is not taken for a later one's. */
  answer = (id: string, said: { answer: string; by: string; question?: string }): Promise<void> =>
    answerTask(this.#wire, id, said);
  /** The next two: of a task that waits for a person's yes. The first word counts. */
  approve = (id: string, said: PersonsWord): Promise<void> => approveTask(this.#wire, id, { ...said, approved: true });
  reject = (id: string, said: PersonsWord): Promise<void> => approveTask(this.#wire, id, { ...said, approved: false });
  setPriority = (id: string, priority: number): Promise<void> => setPriority(this.#wire, id, priority);
  /** What it waits for, between its runs. */
  changeNeeds = (id: string, change: { add?: readonly string[]; drop?: readonly string[] }): Promise<void> =>
    changeNeeds(this.#wire, id, change);
  giveUp = (id: string, why = '', by?: string) => decideTask(this.#wire, id, { decision: 'give-up', why, by });

  /** All that waits for a person, with what to type. */
  inbox = (): Promise<InboxItem[]> => this.#ends.prepare().then(() => readInbox(this.#wire));

  /** Open tasks for an agent outside the fleet, by its name, the most urgent first. */
  listFor = (as: string): Promise<TaskReport[]> => listFor(this.#wire, as);
  /** Takes a task that is for that name, or renews its lease: 30 minutes from now where nothing else is said. */
  askFor = (id: string, asked: Parameters<typeof askFor>[2]) => askFor(this.#wire, id, asked);
  claimFor = (id: string, by: { as: string; leaseMs?: number }): Promise<TaskView> => claimFor(this.#wire, id, by);
  /** Hands its result in, which a worker verifies, or a person where there is no `commit` (a branch, tag or commit). */
  completeFor = (id: string, by: { as: string; result: string; commit?: string }): Promise<void> =>
    completeFor(this.#wire, id, by);
  failFor = (id: string, by: { as: string; why: string }): Promise<void> => failFor(this.#wire, id, by);

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
  /** What waits to be merged, by target. */
  merges = (): Promise<Merges[]> => listMerges(this.#wire);

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
