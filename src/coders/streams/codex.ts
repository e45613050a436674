import { bothEnds, type AgentEvent, type CoderFailure } from '../../domain/agent/event.ts';
import {
  clip,
  count,
  label,
  object,
  parseObject,
  shown,
  text,
  TEXT_MAX,
  TOOL_MAX,
  type Json,
} from '../../domain/values/json.ts';
import { correction, countedIn, type Counted, type Protocol } from '../shared/overlay.ts';

/** `codex exec --json`: one JSON object a line (`facts/coders.md`, section 4). Refused calls are missing from it. */
export const codexProtocol: Protocol = { structured: true, parser };

interface State {
  /** Tool calls seen to start. Items have no call ids; an item's id joins a call to its result. */
  open: Set<string>;
  said: string;
  counted: Counted;
  /** The run has failed, and said so. */
  failed: boolean;
}

const SILENT = new Set(['reasoning', 'todo_list']);

function parser(earlier: readonly AgentEvent[] = []): (line: string) => AgentEvent[] {
  const state: State = {
    open: new Set(earlier.flatMap((event) => (event.type === 'tool-call' ? event.id : []))),
    said: earlier.flatMap((event) => (event.type === 'text' ? event.text : [])).at(-1) ?? '',
    counted: countedIn(earlier),
    failed: earlier.some((event) => event.type === 'ended' && !event.ok),
  };
  return (line) => {
    const event = parseObject(line);
    if (!event) return [];
    const item = object(event['item']);
    switch (event['type']) {
      case 'thread.started':
        return [{ type: 'started', session: label(event['thread_id']) }];
      case 'item.started':
        return item ? started(state, item) : [];
      case 'item.completed':
        return item ? completed(state, item) : [];
      case 'turn.completed':
        return turnCompleted(state, object(event['usage']) ?? {});
      case 'turn.failed':
        return failed(state, text(object(event['error'])?.['message']));
      case 'error':
        return /^Reconnecting\b/.test(text(event['message'])) ? [] : failed(state, text(event['message']));
      default:
        return [];
    }
  };
}

const isTool = (item: Json): boolean =>
  !['agent_message', 'error'].includes(text(item['type'])) && !SILENT.has(text(item['type']));

function started(state: State, item: Json): AgentEvent[] {
  const id = label(item['id']);
  if (!isTool(item) || state.open.has(id)) return [];
  state.open.add(id);
  return [{ type: 'tool-call', id, name: nameOf(item), input: shown(askedOf(item)) }];
}

function completed(state: State, item: Json): AgentEvent[] {
  if (item['type'] === 'agent_message') {
    state.said = bothEnds(text(item['text']), TEXT_MAX);
    return [{ type: 'text', text: state.said }];
  }
  // An item of type error is a warning: the turn goes on.
  if (item['type'] === 'error') return [{ type: 'text', text: clip(`Warning: ${text(item['message'])}`, TEXT_MAX) }];
  if (!isTool(item)) return [];
  const exit = item['exit_code'];
  const ok = item['status'] !== 'failed' && item['status'] !== 'declined' && (typeof exit !== 'number' || exit === 0);
  const said = item['aggregated_output'] ?? item['result'] ?? item['error'] ?? item['status'] ?? '';
  const output = typeof said === 'string' ? bothEnds(said, TOOL_MAX) : shown(said);
  return [...started(state, item), { type: 'tool-result', id: label(item['id']), ok, output }];
}

/** `mcp_tool_call` has a server and a tool; everything else is named by its type. */
const nameOf = (item: Json): string =>
  item['type'] === 'mcp_tool_call' ? `${label(item['server'])}.${label(item['tool'])}` : label(item['type']);

const askedOf = (item: Json): unknown => item['command'] ?? item['changes'] ?? item['arguments'] ?? item['query'] ?? '';

/** `input_tokens` includes the cached ones; the numbers are sums over the whole turn, all that one run has. */
function turnCompleted(state: State, usage: Json): AgentEvent[] {
  const total: Counted = {
    input: count(usage['input_tokens']),
    output: count(usage['output_tokens']),
    cached: count(usage['cached_input_tokens']),
    reasoning: count(usage['reasoning_output_tokens']),
    costUsd: 0,
  };
  return [...correction(state.counted, total), { type: 'ended', ok: true, text: state.said }];
}

/** The same message comes as `error` and then as `turn.failed`. */
function failed(state: State, message: string): AgentEvent[] {
  if (state.failed) return [];
  state.failed = true;
  const failure = failureOf(message);
  const until = failure === 'rate-limited' ? resetIn(message, new Date()) : undefined;
  return [
    ...(failure === 'rate-limited' ? [{ type: 'rate-limited' as const, ...(until ? { until } : {}) }] : []),
    { type: 'ended', ok: false, text: clip(message, TEXT_MAX), failure },
  ];
}

// There are no error codes: the words of 0.169.0, each recorded in test/fixtures/coders.
const FAILURES: readonly (readonly [RegExp, CoderFailure])[] = [
  [/hit your usage limit|last status: 429|status 429|rate limit/i, 'rate-limited'],
  [/status 40[13]|Quota exceeded|not logged in|log in again|refresh token/i, 'auth'],
  [/ran out of room|context window/i, 'context-overflow'],
  [/model_not_found|\bmodel\b.*\b(does not exist|not supported|not found)/i, 'model-unknown'],
  [/at capacity|high demand|overloaded|status 5\d\d|last status: 5\d\d/i, 'overloaded'],
  [/Connection failed|stream disconnected|lookup address|error sending request/i, 'overloaded'],
];

export function failureOf(message: string): CoderFailure {
  return FAILURES.find(([words]) => words.test(message))?.[1] ?? 'agent-error';
}

/**
 * ISO time in "… try again at 8:15 AM." (the next such time, local) or "… at Nov 28th, 2026 8:15 AM."; undefined
 * where the message names none.
 */
export function resetIn(message: string, now: Date): string | undefined {
  const [, day, hour, minute, half] = /try again at (\w+ \d+\w*, \d+ )?(\d+):(\d\d) (AM|PM)/.exec(message) ?? [];
  if (!hour || !minute) return undefined;
  const at = day ? new Date(day.replace(/(\d+)(st|nd|rd|th)/, '$1')) : new Date(now);
  at.setHours((Number(hour) % 12) + (half === 'PM' ? 12 : 0), Number(minute), 0, 0);
  if (!day && at <= now) at.setDate(at.getDate() + 1);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
