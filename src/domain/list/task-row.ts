import { inboxItem, type InboxItem } from './inbox.ts';
import { isClosed } from '../scheduling/dependencies.ts';
import type { Reason } from '../agent/failure.ts';
import { claimQueue } from '../names.ts';
import { isPath } from '../repository/repository-name.ts';
import { readResultLine, readRunLine, type ResultLine, type RunLine } from '../view/run-summary.ts';
import type { TaskView } from '../view/task-view.ts';
import type { TaskState } from '../task/state.ts';
import type { Task } from '../task/schema.ts';
import { titleOf } from '../task/title.ts';

/**
 * A task as lists have it: from what the server keeps of it beside its history, so that no workflow is woken and no worker asked.
 * What is searched for, or changes with each state, are search attributes; the rest are two entries of its memo: what is known when
 * it is made, and what is to be said of it, which most tasks never have.
 */
export interface TaskRow {
  id: string;
  title: string;
  type: string | null;
  state: TaskState;
  /** ISO: since when it is in that state. */
  since: string;
  reason: Reason | null;
  /** One sentence, clipped: why it is where it is. */
  message: string | null;
  repo: string | null;
  queue: string;
  /** The queue that a claim of it waits in. */
  claimQueue: string;
  priority: number;
  coder: string | null;
  model: string | null;
  /** That has it now. */
  worker: string | null;
  /** That has it, or had it last. */
  lastWorker: string | null;
  attempts: { used: number; max: number };
  /** Input and output of all runs that have ended, and what is known of their cost. */
  tokens: number;
  costUsd: number;
  /** The cost of some of the tokens is unknown. */
  unpriced: boolean;
  /** The newest that have ended, oldest first. */
  runs: RunLine[];
  /** Set once it is done. */
  result: ResultLine | null;
  labels: readonly string[];
  dependsOn: readonly string[];
  parent?: string;
  for?: string;
  proposed?: true;
  /** What it waits for that a person does. */
  waits: InboxItem | null;
  pull?: TaskView['pull'];
  merge?: TaskView['merge'];
  merged?: TaskView['merged'];
  outside?: TaskView['outside'];
  /** ISO, as the next two. */
  createdAt: string;
  endedAt: string | null;
  /** When a waiting retry will be queued again. */
  retryAt: string | null;
}

/** The memo's entry `task`: what is known when a task is made, and stays. */
export interface MadeOf {
  title: string;
  maxAttempts: number;
  claimQueue: string;
  parent?: string;
  for?: string;
  proposed?: true;
}

/** The memo's entry `now`, written only where there is something to say. */
export interface SaidOf {
  /** What stays beyond the state that it was said in. */
  lasting: {
    used: number;
    claimQueue: string;
    pull?: TaskView['pull'];
    merged?: TaskView['merged'];
  };
  /** ISO: of the state that the rest was said in, and ends with. */
  since: string;
  message: string | null;
  retryAt: string | null;
  waits: Omit<InboxItem, 'id' | 'title'> | null;
  merge?: TaskView['merge'];
  outside?: TaskView['outside'];
}

const TITLE = 200;
const MESSAGE = 1_000;

export const firstClaimQueue = (task: Task): string =>
  claimQueue({ ...task, machine: isPath(task.repo) ? task.machine : undefined });

export const madeOf = (task: Task): MadeOf => ({
  title: titleOf(task).slice(0, TITLE),
  maxAttempts: task.retry.maxAttempts,
  claimQueue: firstClaimQueue(task),
  ...(task.parent === undefined ? {} : { parent: task.parent }),
  ...(task.for === undefined ? {} : { for: task.for }),
  ...(task.proposed ? { proposed: true } : {}),
});

/**
 * What is to be said of a task beside its search attributes, after what the server was told last. Which other tasks it waits for is
 * one of these attributes, and of one that is done so are its attempts.
 */
export function saidOf(view: TaskView, told: SaidOf): SaidOf {
  const { attempts, claimQueue: queue, pull, merge, merged, outside, retryAt, since, createdAt } = view;
  const waitsForTasks = view.state === 'blocked' && view.dependsOn?.some(({ state }) => !isClosed(state));
  const item = inboxItem(view);
  return {
    lasting: {
      used: view.state === 'done' ? told.lasting.used : attempts.used,
      claimQueue: queue,
      ...(pull ? { pull: { ...pull } } : {}),
      ...(merged ? { merged } : {}),
    },
    since: since ?? createdAt,
    message: waitsForTasks ? null : (view.message?.slice(0, MESSAGE) ?? null),
    retryAt,
    waits: item ? unnamed(item) : null,
    ...(merge ? { merge } : {}),
    ...(outside ? { outside } : {}),
  };
}

const unnamed = ({ id: _id, title: _title, ...item }: InboxItem): SaidOf['waits'] => item;

/** Whether the server has to be told: what stays has changed, or what was said of this state. */
export function saysMore(said: SaidOf, told: SaidOf): boolean {
  if (JSON.stringify(said.lasting) !== JSON.stringify(told.lasting)) return true;
  const known = told.since === said.since ? told : { ...told, ...NOTHING };
  return JSON.stringify(passing(said)) !== JSON.stringify(passing(known));
}

const NOTHING = { message: null, retryAt: null, waits: null, merge: undefined, outside: undefined };
const passing = ({ message, retryAt, waits, merge, outside }: Omit<SaidOf, 'since'>): unknown[] => [
  ...[message, retryAt, waits, merge ?? null, outside ?? null],
];

/** As one is told by how it was made. */
export const saidAtStart = ({ claimQueue: queue }: Pick<MadeOf, 'claimQueue'>): SaidOf => ({
  ...{ lasting: { used: 0, claimQueue: queue }, since: '', message: null, retryAt: null, waits: null },
});

/** What the server's list says of one task. */
export interface Listed {
  id: string;
  state: TaskState;
  /** Somebody ended its workflow by force. */
  terminated: boolean;
  taskQueue: string;
  /** ISO */
  startedAt: string;
  closedAt: string | null;
  /** Its search attributes. */
  told: {
    state?: TaskState;
    since?: string;
    reason?: Reason | undefined;
    coder?: string | undefined;
    model?: string | undefined;
    worker?: string | undefined;
    repo?: string | undefined;
    queue?: string | undefined;
    priority?: number | undefined;
    type?: string | undefined;
    tokens?: number | undefined;
    costUsd?: number | undefined;
    labels?: readonly string[] | undefined;
    dependsOn?: readonly string[] | undefined;
    runs?: readonly string[] | undefined;
  };
  /** Missing of one that was started by hand, until a worker has begun it. */
  made?: MadeOf;
  said?: SaidOf;
}

const ON_A_WORKER: readonly TaskState[] = ['setting-up', 'running', 'verifying', 'delivering'];
/** States of a task whose run is on a worker. */
export const isOnWorker = ({ state }: { state: TaskState }): boolean => ON_A_WORKER.includes(state);

/** Without spreads: of thousands they would be most of the work. */
export function rowOf(listed: Listed): TaskRow {
  const { id, state, told, made, said, startedAt, closedAt } = listed;
  const since = told.since ?? startedAt;
  const queue = told.queue ?? listed.taskQueue;
  const lines = told.runs ?? [];
  const runs = lines.flatMap((line) => readRunLine(line) ?? []).sort((one, other) => one.n - other.n);
  const result = lines.map(readResultLine).find((line) => line !== undefined) ?? null;
  const title = made?.title ?? id;
  const worker = told.worker ?? null;
  // What was said of an earlier state is over.
  const now = said?.since === since ? said : undefined;
  const row: TaskRow = {
    id,
    title,
    type: told.type ?? null,
    state,
    since,
    reason: told.reason ?? null,
    message: listed.terminated ? 'terminated' : (now?.message ?? blockedBy(listed)),
    repo: told.repo ?? null,
    queue,
    claimQueue: said?.lasting.claimQueue ?? made?.claimQueue ?? claimQueue({ queue }),
    priority: told.priority ?? 50,
    coder: told.coder ?? null,
    model: told.model ?? null,
    worker: isOnWorker(listed) ? worker : null,
    lastWorker: worker,
    attempts: { used: result?.attempts ?? said?.lasting.used ?? 0, max: made?.maxAttempts ?? 0 },
    tokens: told.tokens ?? 0,
    costUsd: told.costUsd ?? 0,
    unpriced: runs.some(({ unpriced }) => unpriced),
    runs,
    result,
    labels: told.labels ?? [],
    dependsOn: told.dependsOn ?? [],
    waits: now?.waits ? { id, title, ...now.waits } : null,
    createdAt: startedAt,
    // Its workflow closes later, when it has told all who wait for it.
    endedAt: closedAt !== null && told.state === state ? since : closedAt,
    retryAt: now?.retryAt ?? null,
  };
  if (made?.parent !== undefined) row.parent = made.parent;
  if (made?.for !== undefined) row.for = made.for;
  if (made?.proposed) row.proposed = true;
  if (said?.lasting.pull) row.pull = said.lasting.pull;
  if (said?.lasting.merged) row.merged = said.lasting.merged;
  if (now?.merge) row.merge = now.merge;
  if (now?.outside) row.outside = now.outside;
  return row;
}

function blockedBy({ state, told: { dependsOn = [] } }: Listed): string | null {
  return state === 'blocked' && dependsOn.length > 0 ? `it waits for ${dependsOn.join(', ')}` : null;
}
