import type { Quota } from './quota.ts';

/** What an agent's output becomes, whatever CLI it came from. One line of `events.jsonl` each. */
export type AgentEvent =
  | { type: 'started'; session?: string; model?: string }
  | { type: 'text'; text: string }
  | { type: 'tool-call'; id: string; name: string; input: string }
  | { type: 'tool-result'; id: string; ok: boolean; output: string }
  /**
   * Tokens of one model call, or a correction: the values are added up. `cached` (read) and `written` (to the cache) are parts
   * of `input`, `reasoning` is one of `output`; `context` is the size of the conversation now, `window` what fits at most.
   */
  | {
      type: 'usage';
      input: number;
      output: number;
      cached: number;
      written?: number;
      reasoning?: number;
      costUsd?: number;
      context?: number;
      window?: number;
    }
  /** The agent asks for something that nobody is there to answer. */
  | { type: 'waiting'; what: string }
  /** Something was refused to the agent, or needs a login, as nobody is there to grant it: it goes on without. */
  | { type: 'refused'; what: string }
  | { type: 'rate-limited'; until?: string }
  /** How much of the account's window is used. */
  | ({ type: 'quota' } & Quota)
  /** The CLI's own last word. `failure` is set where it named one that the fleet has a policy for. */
  | { type: 'ended'; ok: boolean; text: string; failure?: CoderFailure };

/** The failures that an agent CLI can name; anything else it says is `agent-error`. */
export const CODER_FAILURES = [
  'agent-error',
  'rate-limited',
  'auth',
  'overloaded',
  'context-overflow',
  'over-budget',
  'model-unknown',
] as const;
export type CoderFailure = (typeof CODER_FAILURES)[number];

/** An event as stored: when it was read, and the offset in stdout just behind the line that it came from. */
export type StoredEvent = AgentEvent & { at: string; offset: number };

/** What a hook of the coder said of one tool call, by another way than its output. */
export interface HookCall {
  phase: 'pre' | 'post' | 'failed';
  /** The call's id, as in the coder's events. */
  id: string;
  name: string;
  /** SHA-256 of the input as JSON, hex, and how it begins. */
  sha256: string;
  input: string;
}

export interface HookLog {
  calls: HookCall[];
  /** Lines that no hook of ours wrote. */
  garbage: number;
  /** Nothing was dropped for want of room. */
  whole: boolean;
}

/** The text, or its begin and its end: what an agent says last is often what it says of itself. */
export function bothEnds(text: string, max: number): string {
  if (text.length <= max) return text;
  const each = Math.floor((max - CUT.length) / 2);
  return text.slice(0, each) + CUT + text.slice(-each);
}

const CUT = '\n[…]\n';

/** Tokens and cost; what an older version counted lacks what is optional here. */
export interface Usage {
  /** With `cachedTokens` and `writtenTokens`. */
  inputTokens: number;
  /** With `reasoningTokens`. */
  outputTokens: number;
  /** Read from the model's cache. */
  cachedTokens: number;
  /** Written to it. */
  writtenTokens?: number;
  reasoningTokens?: number;
  /** What is known of it: see `unpricedTokens`. */
  costUsd: number;
  /** Input and output whose cost nobody knows. */
  unpricedTokens?: number;
  /** Tokens in the conversation at the last model call, where the coder tells. */
  contextTokens: number;
  /** How many fit into it, where that is known. */
  contextWindow?: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, contextTokens: 0 };

export function addUsage(sum: Usage, event: Extract<AgentEvent, { type: 'usage' }>): Usage {
  const { input, output, cached, written, reasoning, costUsd = 0, context, window } = event;
  const used = { inputTokens: input, outputTokens: output, cachedTokens: cached, costUsd, contextTokens: 0 };
  const more = {
    ...(written ? { writtenTokens: written } : {}),
    ...(reasoning ? { reasoningTokens: reasoning } : {}),
    ...(window ? { contextWindow: window } : {}),
  };
  return { ...sumUsage(sum, { ...used, ...more }), contextTokens: context ?? sum.contextTokens };
}

export function sumUsage(a: Usage, b: Usage): Usage {
  const sum = (key: 'writtenTokens' | 'reasoningTokens' | 'unpricedTokens'): Partial<Usage> =>
    a[key] === undefined && b[key] === undefined ? {} : { [key]: (a[key] ?? 0) + (b[key] ?? 0) };
  const contextWindow = b.contextWindow ?? a.contextWindow;
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    ...sum('writtenTokens'),
    ...sum('reasoningTokens'),
    costUsd: a.costUsd + b.costUsd,
    ...sum('unpricedTokens'),
    contextTokens: b.contextTokens || a.contextTokens,
    ...(contextWindow ? { contextWindow } : {}),
  };
}
