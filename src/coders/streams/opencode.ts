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
import type { Protocol } from '../shared/overlay.ts';

/**
 * `opencode run --format json`, as observed on 1.18.33: a line when a part of an answer is whole, none at the start and none at
 * the end. Call ids are the wire's. A run that a refused permission stopped has no last step, and exits with 0.
 */
export const opencodeProtocol: Protocol = { structured: true, parser };

interface State {
  started: boolean;
  /** What the model said in its last step. */
  said: string;
  ended: boolean;
}

function parser(earlier: readonly AgentEvent[] = []): (line: string) => AgentEvent[] {
  const state: State = {
    started: earlier.some((event) => event.type === 'started'),
    said: earlier.flatMap((event) => (event.type === 'text' ? event.text : [])).at(-1) ?? '',
    ended: earlier.some((event) => event.type === 'ended'),
  };
  return (line) => {
    const event = parseObject(line);
    const session = label(event?.['sessionID']);
    if (!event || !session) return [];
    const events = eventsOf(state, event);
    if (state.started) return events;
    state.started = true;
    return [{ type: 'started', session }, ...events];
  };
}

function eventsOf(state: State, event: Json): AgentEvent[] {
  const part = object(event['part']) ?? {};
  switch (event['type']) {
    case 'text':
      state.said = bothEnds(text(part['text']), TEXT_MAX);
      return state.said ? [{ type: 'text', text: state.said }] : [];
    case 'tool_use':
      return tool(part);
    case 'step_finish':
      return stepFinished(state, part);
    case 'error':
      return failed(state, object(event['error']) ?? {}, count(event['timestamp']));
    default:
      return [];
  }
}

/** It is told of when it is over: call and result come together. */
function tool(part: Json): AgentEvent[] {
  const state = object(part['state']) ?? {};
  const id = label(part['callID']);
  const input = object(state['input']);
  const exit = object(state['metadata'])?.['exit'];
  const ok = state['status'] === 'completed' && (typeof exit !== 'number' || exit === 0);
  const said = text(state['output']) || text(state['error']);
  return [
    { type: 'tool-call', id, name: label(part['tool']), input: shown(text(input?.['command']) || input) },
    { type: 'tool-result', id, ok, output: bothEnds(said, TOOL_MAX) },
  ];
}

/** What was read from the cache or written to it is not in `input`. The last step is the one that wants no tool. */
function stepFinished(state: State, part: Json): AgentEvent[] {
  const tokens = object(part['tokens']) ?? {};
  const cache = object(tokens['cache']) ?? {};
  const [cached, written, reasoning] = [count(cache['read']), count(cache['write']), count(tokens['reasoning'])];
  const input = count(tokens['input']) + cached + written;
  const output = count(tokens['output']) + reasoning;
  const costUsd = count(part['cost']);
  const usage: AgentEvent[] =
    input + output === 0
      ? []
      : [
          {
            type: 'usage',
            input,
            output,
            cached,
            ...(written ? { written } : {}),
            ...(reasoning ? { reasoning } : {}),
            ...(costUsd ? { costUsd } : {}),
            context: input + output,
          },
        ];
  const reason = text(part['reason']);
  if (!reason || reason === 'tool-calls' || reason === 'unknown' || state.ended) return usage;
  state.ended = true;
  if (reason === 'stop') return [...usage, { type: 'ended', ok: true, text: state.said }];
  const why = clip(`the model's answer ended by ${reason}`, TEXT_MAX);
  return [...usage, { type: 'ended', ok: false, text: why, failure: 'agent-error' }];
}

function failed(state: State, error: Json, at: number): AgentEvent[] {
  if (state.ended) return [];
  state.ended = true;
  const data = object(error['data']) ?? {};
  const failure = failureOf(error, data);
  const wait = /^\d{1,7}/.exec(text(object(data['responseHeaders'])?.['retry-after']))?.[0];
  const until = wait && at > 0 ? stamp(at + Number(wait) * 1_000) : undefined;
  const said = text(data['message']) || label(error['name']);
  return [
    ...(failure === 'rate-limited' ? [{ type: 'rate-limited' as const, ...(until ? { until } : {}) }] : []),
    { type: 'ended', ok: false, text: clip(said, TEXT_MAX), failure },
  ];
}

/** Undefined for a time that no calendar has. */
function stamp(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** The name of the error, the status of the wire, then the API's own words. */
function failureOf(error: Json, data: Json): CoderFailure {
  const name = text(error['name']);
  const status = count(data['statusCode']);
  const words = `${text(data['message'])} ${text(data['responseBody'])}`;
  if (name === 'ContextOverflowError') return 'context-overflow';
  if (name === 'ProviderAuthError' || status === 401 || status === 402 || status === 403) return 'auth';
  if (/insufficient_quota|credit balance|billing/i.test(words)) return 'auth';
  if (status === 429 || /rate.?limit|too many requests/i.test(words)) return 'rate-limited';
  if (status >= 500 || /overloaded|unable to connect|ECONN|ETIMEDOUT|socket|network|terminated/i.test(words))
    return 'overloaded';
  return 'agent-error';
}
