/** What an agent's output becomes, whatever CLI it came from. One line of `events.jsonl` each. */
export type AgentEvent =
  | { type: 'started'; session?: string; model?: string }
  | { type: 'text'; text: string }
  | { type: 'tool-call'; id: string; name: string; input: string }
  | { type: 'tool-result'; id: string; ok: boolean; output: string }
  /**
   * Tokens of one model call, or a correction: the values are added up. `cached` (read) and `written` (to the cache) are parts
   * of `input`, `reasoning` is one of `output`; `context` is the size of the conversation now.
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
    }
  /** The agent asks for something that nobody is there to answer. */
  | { type: 'waiting'; what: string }
  | { type: 'rate-limited'; until?: string }
  /** The CLI's own last word. `failure` is set where it named one that the fleet has a policy for. */
  | { type: 'ended'; ok: boolean; text: string; failure?: CoderFailure };

/** The failures that an agent CLI can name; anything else it says is `agent-error`. */
export type CoderFailure = 'agent-error' | 'rate-limited' | 'auth' | 'overloaded' | 'context-overflow' | 'over-budget';

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

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  costUsd: number;
  /** Tokens in the conversation at the last model call, where the coder tells. */
  contextTokens: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, contextTokens: 0 };

export function addUsage(sum: Usage, event: Extract<AgentEvent, { type: 'usage' }>): Usage {
  return {
    inputTokens: sum.inputTokens + event.input,
    outputTokens: sum.outputTokens + event.output,
    cachedTokens: sum.cachedTokens + event.cached,
    costUsd: sum.costUsd + (event.costUsd ?? 0),
    contextTokens: event.context ?? sum.contextTokens,
  };
}

export const sumUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  costUsd: a.costUsd + b.costUsd,
  contextTokens: b.contextTokens || a.contextTokens,
});
