import type { Spent } from '../scheduling/budget.ts';
import { FAILURES, type Reason } from '../agent/failure.ts';
import type { RunEnding, RunRef } from '../view/task-view.ts';
import type { TaskState } from '../task/state.ts';

/** `pause`: no new work. `drain`: nor any after that, the worker ends with its last run. `stop`: its agents end at once. */
export const ORDER_MODES = ['pause', 'drain', 'stop'] as const;

/** What a person ordered a worker, or all of them. It stands until it is withdrawn, whoever is attached meanwhile. */
export interface FleetOrder {
  mode: (typeof ORDER_MODES)[number];
  /** `<user>@<host>` */
  by: string;
  /** ISO */
  at: string;
  why: string;
}

/** Type of the failure of a step that a `stop` cut short. */
export const STOPPED = 'Stopped';
/** Type of the failure of a step that says itself what it is owed to, the worker's machine above all; its one detail is the `Failure`. */
export const MACHINE_FAULT = 'MachineFault';

/** The order that forbids most. */
export function strongest(...orders: readonly (FleetOrder | null)[]): FleetOrder | null {
  const rank = (order: FleetOrder | null): number => (order ? ORDER_MODES.indexOf(order.mode) : -1);
  return orders.reduce((most, order) => (rank(order) > rank(most) ? order : most), null);
}

const DEEDS = { pause: 'paused', drain: 'told to drain', stop: 'stopped' } as const;

/** `paused by ada@desk at 2026-01-01T00:00:00Z (disk check): fleet resume takes new work again` */
export function orderSentence({ mode, by, at, why }: FleetOrder, worker?: string): string {
  const resume = worker === undefined ? 'fleet resume' : `fleet worker resume ${worker}`;
  return `${DEEDS[mode]} by ${by} at ${at}${why ? ` (${why})` : ''}: ${resume} takes new work again`;
}

/** A worker's Ed25519 key that its receipts are signed with. */
export interface PublicKey {
  /** SHA-256 of `key`, hex. */
  id: string;
  /** The DER (SPKI) in base64. */
  key: string;
  /** ISO: when it was made. */
  since: string;
}

/** The public parts of a worker's keys. */
export interface WorkerKeys {
  publicKey: PublicKey;
  /** `age1…`: what held-out checks are sealed to. */
  recipient: string;
}

/** Which worker, and which process of it. */
export interface WorkerIdentity {
  name: string;
  machine: string;
  hostQueue: string;
  queues: string[];
  /** The version is null where the program did not tell. */
  coders: { name: string; version: string | null }[];
  /** ISO: tells this process from earlier ones of the same worker. */
  since: string;
  version: string;
  pid: number;
}

/** What stays the same for as long as a worker's process is attached. Records of version 0.1 have no keys. */
export interface WorkerFacts extends WorkerIdentity, Partial<WorkerKeys> {
  slots: number;
  /** Milliseconds, see `Claim`. */
  lease: { heartbeatMs: number; graceMs: number };
  /** Names of its variables that a task may ask for. */
  env?: string[];
}

/** How a task ended whose repository keeps nothing of it any more. */
export type ForgetEnding = Extract<TaskState, 'done' | 'failed' | 'cancelled'>;

/** A run that a worker was lost with, or could not release, or after which its task was not forgotten: it does so when it can. */
export interface Owed extends RunRef {
  /** What is kept for other machines is to be removed from the task's repository. */
  forget?: ForgetEnding;
  /** Which one that is: the worker may not have got as far as to note it. */
  repo?: string;
}
export interface Debt extends Owed {
  /** ISO */
  since: string;
}

export const sameDebt = (one: Owed, other: Owed): boolean => one.runId === other.runId && one.forget === other.forget;

/** `owes the clean-up of 1 run and of what 2 tasks left at the repository`; empty where it owes nothing. */
export function debtSentence(debts: readonly Owed[]): string {
  const tasks = debts.filter(({ forget }) => forget).length;
  const runs = debts.length - tasks;
  const parts = [
    ...(runs > 0 ? [`${runs} run${runs === 1 ? '' : 's'}`] : []),
    ...(tasks > 0 ? [`what ${tasks === 1 ? '1 task' : `${tasks} tasks`} left at the repository`] : []),
  ];
  return parts.length > 0 ? `owes the clean-up of ${parts.join(' and of ')}` : '';
}

/** The durable record of a worker: its workflow's memo and `worker` query. */
export interface WorkerRecord extends WorkerFacts {
  state: 'attached' | 'detached' | 'lost';
  /** ISO: of the last change of state. */
  changedAt: string;
  debts: Debt[];
  /** The report of the process that detached last. */
  report: Tally | null;
}

/** What an attached worker says of itself, every two seconds: the heartbeat details of `workerHeartbeat`. */
export interface WorkerView extends WorkerIdentity {
  slots: { total: number; used: number };
  runs: { taskId: string; runId: string; since: string }[];
  /** Why it takes no new work: orders, a full disk… */
  holds: string[];
  /** Coders for which it takes none, as no credential of theirs has a seat: `until` (ISO) where that passes by itself. */
  closed?: { coder: string; why: string; until?: string; full?: true }[];
  /** Names of the credentials that runs here can have. */
  credentials?: string[];
  /** Used where a task pins no coder. */
  defaultCoder?: string;
  /** What has used up its budget, and gets no new run here. */
  budgets?: Spent[];
  /** Runs in a row that ended by what may be its own; missing where the last one did not. */
  failedInARow?: number;
  /** ISO: when a run last got as far as only a sound worker gets it; missing where none has yet. */
  provedAt?: string;
  /** It leaves with its last run. */
  leaving: boolean;
  /** The strongest order that it obeys. */
  order: FleetOrder | null;
  /** Once every agent is down that the `stop` of that time found. */
  stopped: { at: string; agents: number } | null;
  /** Where its home is. */
  freeBytes: number | null;
  tally: Tally;
  /** ISO: when it said so. */
  at: string;
}

/** What became of the runs that a worker took in: `takenIn` is the sum of all others. */
export interface Tally {
  /** ISO: since when they are counted; a restart goes on counting, a finished drain begins anew. */
  since: string;
  takenIn: number;
  done: number;
  /** Not accepted, by the agent's doing; the task is queued for another try. */
  failed: number;
  cancelled: number;
  parked: number;
  /** Queued again, left to the next worker here, or stopped: through no fault of the agent. */
  handedOver: number;
  /** The result was accepted, and waits here for a person's yes. Reports of older versions do not say. */
  kept: number;
  live: number;
  /** A drain's ids of tasks whose accepted result only this worker can deliver, whenever it was made. */
  keeps?: string[];
}

/** As a worker leaves it: what lives goes on under the next one here, or elsewhere. */
export const leftBehind = (tally: Tally): Tally => ({ ...tally, handedOver: tally.handedOver + tally.live, live: 0 });

export type Outcome = Exclude<keyof Tally, 'since' | 'takenIn' | 'live' | 'keeps'>;

export function outcomeOf(ending: RunEnding, reason: Reason | null): Outcome {
  if (ending !== 'queued-again') return ending;
  return reason && FAILURES[reason].attempt ? 'failed' : 'handedOver';
}

/** `5 taken in = 3 done + 1 failed + 0 cancelled + 1 parked + 0 handed over`; what is kept or still live is said where there is any. */
export function tallySentence(tally: Tally): string {
  const { takenIn, done, failed, cancelled, parked, handedOver, kept, live } = tally;
  const some = { ...(kept ? { kept } : {}), ...(live ? { live } : {}) };
  const parts = { done, failed, cancelled, parked, 'handed over': handedOver, ...some };
  const sum = Object.entries(parts).map(([name, count]) => `${count} ${name}`);
  return `${takenIn} taken in = ${sum.join(' + ')}`;
}

const NAMED = 10;

/** What is to be done about the results that a worker left with; none where there are none. */
export function keptSentences({ keeps = [] }: Tally): string[] {
  if (keeps.length === 0) return [];
  const more = keeps.length > NAMED ? ` and ${keeps.length - NAMED} more` : '';
  const what = keeps.length === 1 ? '1 accepted result' : `${keeps.length} accepted results`;
  const one = keeps.length === 1 ? 'it' : 'them';
  return [
    `it keeps ${what} that no other worker can deliver: ${keeps.slice(0, NAMED).join(', ')}${more}. Start it again to deliver ${one} (drained, it takes nothing new), or reject ${one} and the work is done again elsewhere`,
  ];
}

/** `claude 2.1.329 (Claude Code)` */
export const coderText = ({ name, version }: WorkerIdentity['coders'][number]): string =>
  `${name} ${version ?? '(version not known)'}`;
