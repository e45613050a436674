import type { RunRef } from '../view/task-view.ts';

/** The state of one credential, shared by all workers that name it: pure, and kept by the workflow `fleetCredential`. */

/** A worker that has the credential configured. */
export interface SeatHolder {
  worker: string;
  machine: string;
  hostQueue: string;
  /** That it claims tasks from. */
  queues: string[];
  /** ISO: tells its process from earlier ones. */
  since: string;
  /** As configured there. */
  seats: number;
  softCeiling: number;
  how: 'home' | 'envFile' | 'command';
  /** Milliseconds after which its seats come back where it is not heard of. */
  leaseMs: number;
  /** Its process has ended as it should; what it left behind may still run. */
  leaving?: true;
}

/** A run that works under the credential. */
export interface Seat extends RunRef {
  worker: string;
  hostQueue: string;
  /** ISO */
  since: string;
}

export interface CredentialRecord {
  name: string;
  coder: string;
  holders: SeatHolder[];
  seats: Seat[];
  /** Takes no run before `until` (ISO). */
  resting: { until: string; why: string } | null;
  /** Limits in a row, without a run in between that met none. */
  limits: number;
  /** Refused by its vendor: nobody tries it again before a person says that it is mended. */
  bad: { why: string; at: string } | null;
  /** ISO: when a person last said so. */
  mendedAt: string | null;
  /** Tokens of runs that ended in the window of now, as far as its begin and end (ISO) are known. */
  window: { since: string; until: string; tokens: number } | null;
  /** The part of the window that is used, as the coder or the wire last said, and until when that holds. */
  used: { part: number; until: string; at: string } | null;
  /** Runs that told of a limit or a refusal: each counts once. */
  told: string[];
}

/** What a run met: `until` is ISO. */
export type SeatReport = RunRef & { why: string } & (
    | { kind: 'limited'; until?: string }
    | { kind: 'refused' }
    | { kind: 'used'; part: number; until?: string }
  );

const PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 30 * 60_000;
/** No vendor's limit is further away. */
const LONGEST_REST_MS = 8 * 86_400_000;
const LEAST_REST_MS = 5_000;
/** Where nobody tells: what the subscriptions use. */
const WINDOW_MS = 5 * 3_600_000;
const TOLD = 100;
const WHY = 300;

export const newCredential = (name: string, coder: string): CredentialRecord => ({
  ...{ name, coder, holders: [], seats: [], resting: null, limits: 0, bad: null, mendedAt: null },
  ...{ window: null, used: null, told: [] },
});

/** The smallest number that any of its workers is configured with. */
export const seatsOf = ({ holders }: CredentialRecord): number =>
  holders.length === 0 ? 0 : Math.min(...holders.map(({ seats }) => seats));

/** Why no run can have a seat. */
export interface Refusal {
  why: string;
  /** ISO, where it passes by itself. */
  until?: string;
  /** Other runs have them. */
  full?: true;
}

/** What a refused one needs: its login or key is on the machines of those that name it. */
export function renewal({ name, coder, holders }: Pick<CredentialRecord, 'name' | 'coder' | 'holders'>): string {
  const where = [...new Set(holders.map(({ worker }) => worker))].join(', ');
  return `log in to ${coder} again, or change its key, ${where ? `on the machine of ${where}` : 'where it is kept'}; then type fleet credentials ok ${name}`;
}

/** Undefined where one can. */
export function refusalOf(record: CredentialRecord, nowMs: number): Refusal | undefined {
  const { name, bad, resting, used, seats, holders } = record;
  if (bad)
    return {
      why: `credential ${name} was refused at ${bad.at} (${bad.why}): ${renewal(record)}`,
    };
  if (resting && Date.parse(resting.until) > nowMs)
    return { why: `credential ${name} rests until ${resting.until} (${resting.why})`, until: resting.until };
  const ceiling = Math.min(1, ...holders.map(({ softCeiling }) => softCeiling));
  if (used && used.part >= ceiling && Date.parse(used.until) > nowMs) {
    const why = `${Math.round(used.part * 100)} % of its window is used, the soft ceiling is ${Math.round(ceiling * 100)} %`;
    return { why: `credential ${name} takes no new run until ${used.until}: ${why}`, until: used.until };
  }
  const total = seatsOf(record);
  if (seats.length >= total)
    return { full: true, why: `${seats.length} of ${total} seats of credential ${name} are taken` };
  return undefined;
}

/** A process of a worker is there, with the runs that it holds: those have a seat, whatever the number. */
export function named(
  record: CredentialRecord,
  { holder, runs, now }: { holder: SeatHolder; runs: readonly RunRef[]; now: string },
): CredentialRecord {
  const { hostQueue, worker, since } = holder;
  const known = record.holders.find((other) => other.hostQueue === hostQueue);
  // What an earlier process took and the new one does not know of was never begun.
  const kept = record.seats.filter(
    (seat) => seat.hostQueue !== hostQueue || known?.since === since || runs.some(({ runId }) => runId === seat.runId),
  );
  const missing = runs.filter(({ runId }) => !kept.some((seat) => seat.runId === runId));
  const holders = record.holders.filter((other) => other.hostQueue !== hostQueue);
  return {
    ...record,
    holders: [...holders, holder].toSorted((a, b) => (a.hostQueue < b.hostQueue ? -1 : 1)),
    seats: [...kept, ...missing.map(({ taskId, runId }) => ({ taskId, runId, worker, hostQueue, since: now }))],
  };
}

/** A worker is gone, and what it ran with it. */
export const gone = (record: CredentialRecord, hostQueue: string): CredentialRecord => ({
  ...record,
  holders: record.holders.filter((holder) => holder.hostQueue !== hostQueue),
  seats: record.seats.filter((seat) => seat.hostQueue !== hostQueue),
});

export const leased = (record: CredentialRecord, seat: Seat): CredentialRecord =>
  holds(record, seat) ? record : { ...record, seats: [...record.seats, seat] };

export const holds = ({ seats }: CredentialRecord, { runId }: Pick<RunRef, 'runId'>): boolean =>
  seats.some((seat) => seat.runId === runId);

/** A run is over: its seat is free, and what it used is added up. */
export function givenBack(
  record: CredentialRecord,
  { runId, tokens, nowMs }: { runId: string; tokens: number; nowMs: number },
): CredentialRecord {
  if (!holds(record, { runId })) return record;
  const seats = record.seats.filter((seat) => seat.runId !== runId);
  const limits = record.told.includes(runId) ? record.limits : 0;
  return { ...record, seats, limits, window: tokens > 0 ? counted(record, { tokens, nowMs }) : record.window };
}

function counted({ window }: CredentialRecord, { tokens, nowMs }: { tokens: number; nowMs: number }) {
  if (window && Date.parse(window.until) > nowMs) return { ...window, tokens: window.tokens + tokens };
  return { since: iso(nowMs), until: iso(nowMs + WINDOW_MS), tokens };
}

/** What a run met: a limit lets the credential rest, a refusal ends its use. */
export function reported(record: CredentialRecord, report: SeatReport, nowMs: number): CredentialRecord {
  const why = report.why.slice(0, WHY);
  if (report.kind === 'used') {
    const until = later(report.until, nowMs) ?? record.window?.until ?? iso(nowMs + WINDOW_MS);
    return { ...record, used: { part: report.part, until, at: iso(nowMs) } };
  }
  if (record.told.includes(report.runId)) return record;
  const told = [...record.told, report.runId].slice(-TOLD);
  if (report.kind === 'refused') {
    const seat = record.seats.find(({ runId }) => runId === report.runId);
    // It was launched with what has been mended since.
    const stale = seat && record.mendedAt !== null && seat.since < record.mendedAt;
    return { ...record, told, bad: record.bad ?? (stale ? null : { why, at: iso(nowMs) }) };
  }
  const until = later(report.until, nowMs);
  const before = record.resting && Date.parse(record.resting.until) > nowMs ? record.resting : null;
  const limits = before ? record.limits : record.limits + 1;
  const pauseMs = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** Math.max(0, limits - 1));
  // A reset time that keeps lying near is no reason to ask the vendor every few seconds.
  const leastMs = limits > 3 ? pauseMs : LEAST_REST_MS;
  const restMs = until ? Math.max(leastMs, Date.parse(until) - nowMs) : pauseMs;
  const end = iso(nowMs + Math.min(LONGEST_REST_MS, restMs));
  const resting = before && before.until > end ? before : { until: end, why };
  const window = record.window && until ? { ...record.window, until } : record.window;
  return { ...record, told, limits, resting, window };
}

/** A person says that it is as it should be. */
export const mended = (record: CredentialRecord, now: string): CredentialRecord => ({
  ...{ ...record, bad: null, resting: null, limits: 0, mendedAt: now },
  used: null,
});

const iso = (ms: number): string => new Date(ms).toISOString();

function later(time: string | undefined, nowMs: number): string | undefined {
  const ms = time === undefined ? Number.NaN : Date.parse(time);
  return ms > nowMs ? iso(Math.min(ms, nowMs + LONGEST_REST_MS)) : undefined;
}

/** Where a task can be claimed. */
export interface Reach {
  queue: string;
  /** Undefined: anywhere. */
  machine: string | undefined;
}

/** Whether a worker that can claim such a task may run it under the credential, now or once it has rested. */
export const reaches = ({ bad, holders }: CredentialRecord, { queue, machine }: Reach): boolean =>
  bad === null &&
  holders.some((holder) => holder.queues.includes(queue) && (machine === undefined || holder.machine === machine));
