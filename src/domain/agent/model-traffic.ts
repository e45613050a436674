import { addUsage, NO_USAGE, type CoderFailure, type Usage } from './event.ts';

/** What went between an agent and its model, as the run's proxy saw it. One line of `wire.jsonl` each. */
export type WireLine =
  /** The run's model calls go through the proxy, to this host. */
  | { type: 'opened'; at: string; api: string; host: string }
  /** They go another way, which nobody sees. */
  | { type: 'unseen'; at: string; why: string }
  /** The proxy was started anew: exchanges that were under way have no line. */
  | { type: 'restarted'; at: string }
  /** The file has reached its size, or the disk was full: exchanges that followed are missing. */
  | { type: 'full'; at: string }
  | WireExchange;

/** One request and its answer. */
export interface WireExchange {
  type: 'exchange';
  /** ISO, when the request came. */
  at: string;
  path: string;
  /** Null: the model's server was not reached. */
  status: number | null;
  model?: string;
  /** Milliseconds to the first byte of the answer, and to its end. */
  firstByteMs: number | null;
  ms: number;
  /** Bytes of the two bodies. */
  sent: number;
  received: number;
  /** What the model asked for, in this answer. */
  calls: WireCall[];
  /** What it was told of its calls, in this request for the first time. */
  results: WireResult[];
  usage?: WireUsage;
  error?: { failure: CoderFailure; message: string };
  /** ISO: the reset that came with an error. */
  until?: string;
  /** Headers that tell what is left of a limit. */
  quota?: Record<string, string>;
  /** The part of the account's window that is used, and its reset (ISO), where the headers tell. */
  used?: { part: number; until?: string };
  /** The answer did not come to its end. */
  cut?: true;
  /** Why something in the answer, or in the request, could not be read. */
  unread?: string;
  unreadRequest?: string;
}

export interface WireCall {
  /** Null where the API has none. */
  id: string | null;
  name: string;
  /** SHA-256 of the input as JSON without spaces, or of the text, hex; and how it begins. */
  sha256: string;
  input: string;
}

export interface WireResult {
  id: string | null;
  sha256: string;
}

/** Tokens of one answer; `cached` and `written` are parts of `input`, `reasoning` is one of `output`. */
export interface WireUsage {
  input: number;
  output: number;
  cached: number;
  written: number;
  reasoning: number;
}

/** All that the proxy saw of one run. */
export interface WireLog {
  /** Set where the calls went another way: why. */
  unseen: string | null;
  exchanges: WireExchange[];
  /** No call is missing in it: no restart of the proxy, no full file, no answer that could not be read. */
  whole: boolean;
}

/** What a run's exchanges come to. */
export interface WireSum {
  exchanges: number;
  usage: Usage;
  /** That answered last; null where no answer named one. */
  model: string | null;
  /** How the last one that had an outcome ended; null: well, or there was none. */
  failed: { failure: CoderFailure; message: string; until?: string } | null;
  /** As last told. */
  used: { part: number; until?: string } | null;
}

export const NO_WIRE: WireSum = { exchanges: 0, usage: NO_USAGE, model: null, failed: null, used: null };

export function addExchange(sum: WireSum, exchange: WireExchange): WireSum {
  const { usage, error, until, model, cut } = exchange;
  const { input = 0, output = 0 } = usage ?? {};
  const told = error ? { ...error, ...(until ? { until } : {}) } : null;
  const answered = !cut && (usage !== undefined || model !== undefined);
  return {
    exchanges: sum.exchanges + 1,
    usage: usage ? addUsage(sum.usage, { type: 'usage', ...usage, context: input + output }) : sum.usage,
    model: model ?? sum.model,
    // An answer that the agent itself broke off says nothing of the model, nor does a list of models.
    failed: told ?? (answered ? null : sum.failed),
    used: exchange.used ?? sum.used,
  };
}

export const sumOf = (log: WireLog | null): WireSum => (log?.exchanges ?? []).reduce(addExchange, NO_WIRE);

/**
 * How a coder ended, where the wire knows better: a CLI that only says that it failed, or says nothing at all, after its last
 * request had failed; and one that blames its model, which uses up no attempt and may let its credential rest, while nothing
 * that the model's server answered says so. `broke` tells that it ended otherwise than with 0, and by itself: that it was
 * refused is then not taken from the wire alone, as an agent can have itself refused and then kill its CLI.
 */
export function endedBy(ended: Ended, log: WireLog | null, broke: boolean): Ended {
  const { failed } = sumOf(log);
  if (ended && !ended.ok && isUnfounded(ended.failure, log))
    return { ok: false, failure: failed?.failure ?? 'agent-error' };
  if (!failed || failed.failure === 'agent-error') return ended;
  if (!ended) return broke && failed.failure !== 'auth' ? { ok: false, failure: failed.failure } : ended;
  const unexplained = !ended.ok && (ended.failure ?? 'agent-error') === 'agent-error';
  return unexplained ? { ok: false, failure: failed.failure } : ended;
}

function isUnfounded(said: CoderFailure | null, log: WireLog | null): boolean {
  if (!log?.whole || log.unseen !== null) return false;
  const met = log.exchanges.some(({ error }) => error?.failure === said);
  if (said === 'rate-limited' || said === 'auth') return !met;
  // It may have given up waiting by itself. A proxy that could not be reached is another one now, which says so.
  return said === 'overloaded' && !met && !log.exchanges.some(({ cut }) => cut);
}

type Ended = { ok: boolean; failure: CoderFailure | null } | null;

/**
 * The tokens of a run by two counts: the coder's events, which lack what it did not come to report, and the wire, which
 * lacks what went past it. The greater one counts, as a whole; the cost is the events'.
 */
export function greaterUsage(events: Usage, wire: Usage | undefined): Usage {
  if (!wire || wire.inputTokens + wire.outputTokens <= events.inputTokens + events.outputTokens) return events;
  return { ...wire, costUsd: events.costUsd, contextTokens: events.contextTokens || wire.contextTokens };
}

/** What goes on between a live agent and its model now. */
export interface WireLive {
  /** Bytes of its model's answers, without errors and pings, since the proxy has the run: any change is progress. */
  answered: number;
  /** Requests that the model's server has whole, and has not answered to the end. */
  open: number;
  /** Milliseconds since the last byte of any of them, or since the newest was sent; 0 without any. */
  quietMs: number;
  sum: WireSum;
}
