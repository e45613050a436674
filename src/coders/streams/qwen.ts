import { bothEnds, type AgentEvent, type CoderFailure } from '../../domain/agent/event.ts';
import {
  clip,
  count,
  label,
  object,
  objects,
  parseObject,
  shown,
  text,
  TEXT_MAX,
  TOOL_MAX,
  type Json,
} from '../../domain/values/json.ts';
import type { Protocol } from '../shared/overlay.ts';

/** `qwen -o stream-json`: Claude's event names with other contents, as observed on 0.24.4. Call ids are the wire's. */
export const qwenProtocol: Protocol = { structured: true, parser };

interface State {
  started: boolean;
}

function parser(earlier: readonly AgentEvent[] = []): (line: string) => AgentEvent[] {
  const state: State = {
    started: earlier.some((event) => event.type === 'started'),
  };
  return (line) => {
    const event = parseObject(line);
    if (!event) return [];
    switch (event['type']) {
      case 'system':
        return event['subtype'] === 'init' ? started(state, event) : [];
      case 'assistant':
        return assistant(event);
      case 'user':
        return objects(object(event['message'])?.['content']).flatMap(toolResult);
      case 'result':
        return result(event);
      default:
        return [];
    }
  };
}

function started(state: State, event: Json): AgentEvent[] {
  if (state.started) return [];
  state.started = true;
  return [{ type: 'started', session: label(event['session_id']), model: label(event['model']) }];
}

/** One answer comes as several events: the last alone has its usage. */
function assistant(event: Json): AgentEvent[] {
  const message = object(event['message']) ?? {};
  const events = objects(message['content']).flatMap(block);
  const { input, output, cached } = usageOf(object(message['usage']));
  if (input + output === 0) return events;
  // A sub-agent has a conversation of its own.
  const context = event['parent_tool_use_id'] ? {} : { context: input + output };
  return [...events, { type: 'usage', input, output, cached, ...context }];
}

/** What was read from the cache is a part of the input. */
const usageOf = (usage: Json = {}) => ({
  input: count(usage['input_tokens']),
  output: count(usage['output_tokens']),
  cached: count(usage['cache_read_input_tokens']),
});

function block(content: Json): AgentEvent[] {
  if (content['type'] === 'text') return [{ type: 'text', text: bothEnds(text(content['text']), TEXT_MAX) }];
  if (content['type'] !== 'tool_use') return [];
  const input = object(content['input']);
  return [
    {
      type: 'tool-call',
      id: label(content['id']),
      name: label(content['name']),
      input: shown(text(input?.['command']) || input),
    },
  ];
}

function toolResult(content: Json): AgentEvent[] {
  if (content['type'] !== 'tool_result') return [];
  const said = content['content'];
  const output = typeof said === 'string' ? bothEnds(said, TOOL_MAX) : shown(said);
  return [{ type: 'tool-result', id: label(content['tool_use_id']), ok: content['is_error'] !== true, output }];
}

/** Its usage is a sum over a resumed session, and zero after a failure: not used. */
function result(event: Json): AgentEvent[] {
  if (event['subtype'] === 'success' && event['is_error'] !== true)
    return [{ type: 'ended', ok: true, text: bothEnds(text(event['result']), TEXT_MAX) }];
  const said = text(object(event['error'])?.['message']) || text(event['result']) || text(event['subtype']);
  const failure = failureOf(said);
  return [
    ...(failure === 'rate-limited' ? [{ type: 'rate-limited' as const }] : []),
    { type: 'ended', ok: false, text: clip(said, TEXT_MAX), failure },
  ];
}

// "[API Error: 429 …]": the status of the wire and the API's own words; never a time of reset.
const FAILURES: readonly (readonly [RegExp, CoderFailure])[] = [
  [
    /maximum context length|context window|input (?:length|token)|prompt is too long|context_length/i,
    'context-overflow',
  ],
  [/current quota|insufficient|billing|balance|arrearage/i, 'auth'],
  [/API Error: 40[123]\b|API key|unauthorized|authentication/i, 'auth'],
  [/API Error: 429\b|rate limit|throttl|too many requests|quota/i, 'rate-limited'],
  [/API Error: 5\d\d\b|overloaded|server error|unavailable/i, 'overloaded'],
  [/connection error|fetch failed|ECONN|ETIMEDOUT|socket|terminated|network|timeout|stream/i, 'overloaded'],
  [/max_turns|turn limit|wall.?time|tool.?call.*(?:budget|limit)|budget/i, 'over-budget'],
];

export function failureOf(said: string): CoderFailure {
  return FAILURES.find(([words]) => words.test(said))?.[1] ?? 'agent-error';
}
