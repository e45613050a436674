import { bothEnds, type AgentEvent, type CoderFailure } from '../../domain/agent/event.ts';
import { fullest, quota } from '../../domain/agent/quota.ts';
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
import { add, correction, countedIn, type Counted, type Protocol } from '../shared/overlay.ts';

/** `claude -p --output-format stream-json --verbose`: one JSON object a line (`facts/coders.md`, section 3). */
export const claudeProtocol: Protocol = { structured: true, parser, heartbeat };

interface State {
  started: boolean;
  /** The API error that the last assistant message stands for: `rate_limit`, `server_error`, … */
  error: string;
  message: string;
  counted: Counted;
}

function parser(earlier: readonly AgentEvent[] = []): (line: string) => AgentEvent[] {
  const state: State = {
    started: earlier.some((event) => event.type === 'started'),
    error: '',
    message: '',
    counted: countedIn(earlier.slice(earlier.findLastIndex((event) => event.type === 'ended') + 1)),
  };
  return (line) => {
    const event = parseObject(line);
    if (!event) return [];
    switch (event['type']) {
      case 'system':
        return system(state, event);
      case 'assistant':
        return assistant(state, event);
      case 'user':
        return objects(object(event['message'])?.['content']).flatMap(toolResult);
      case 'rate_limit_event':
        return rateLimit(object(event['rate_limit_info']) ?? {});
      case 'control_request':
        return question(object(event['request']) ?? {});
      case 'result':
        return result(state, event);
      default:
        return [];
    }
  };
}

/** Every 30 s while a tool runs, also one that hangs. */
function heartbeat(line: string): boolean {
  return line.startsWith('{"type":"tool_progress"') && parseObject(line)?.['heartbeat'] === true;
}

function system(state: State, event: Json): AgentEvent[] {
  if (event['subtype'] === 'permission_denied')
    return [refused(`a permission for ${label(event['tool_name'])}: ${text(event['message'])}`)];
  if (event['subtype'] !== 'init' || state.started) return [];
  state.started = true;
  const locked = objects(event['mcp_servers']).filter((server) => server['status'] === 'needs-auth');
  return [
    { type: 'started', session: label(event['session_id']), model: label(event['model']) },
    ...locked.map((server) => refused(`a login for MCP server ${label(server['name'])}`)),
  ];
}

const refused = (what: string): AgentEvent => ({ type: 'refused', what: clip(what, TOOL_MAX) });

/** One event per content block, each with the whole message's id and usage: counted at the first. */
function assistant(state: State, event: Json): AgentEvent[] {
  const message = object(event['message']) ?? {};
  state.error = text(event['error']);
  const events = objects(message['content']).flatMap(block);
  const id = text(message['id']);
  if (!id || id === state.message) return events;
  state.message = id;
  const usage = object(message['usage']) ?? {};
  const cached = count(usage['cache_read_input_tokens']);
  const written = count(usage['cache_creation_input_tokens']);
  const input = count(usage['input_tokens']) + written + cached;
  const output = count(usage['output_tokens']);
  if (input + output === 0) return events;
  const used = { input, output, cached, ...(written ? { written } : {}) };
  add(state.counted, used);
  // A sub-agent has a conversation of its own.
  const context = event['parent_tool_use_id'] ? {} : { context: input + output };
  return [...events, { type: 'usage', ...used, ...context }];
}

function block(content: Json): AgentEvent[] {
  if (content['type'] === 'text') return [{ type: 'text', text: bothEnds(text(content['text']), TEXT_MAX) }];
  if (content['type'] !== 'tool_use') return [];
  const input = object(content['input']);
  const command = text(input?.['command']);
  return [
    { type: 'tool-call', id: label(content['id']), name: label(content['name']), input: shown(command || input) },
  ];
}

function toolResult(content: Json): AgentEvent[] {
  if (content['type'] !== 'tool_result') return [];
  const said = content['content'];
  const output =
    typeof said === 'string'
      ? said
      : objects(said)
          .map((part) => text(part['text']) || `[${text(part['type'])}]`)
          .join('\n');
  return [
    {
      type: 'tool-result',
      id: label(content['tool_use_id']),
      ok: content['is_error'] !== true,
      output: bothEnds(output, TOOL_MAX),
    },
  ];
}

/** Comes also while all is well (`allowed`, `allowed_warning`). `resetsAt` is in epoch seconds. */
function rateLimit(info: Json): AgentEvent[] {
  if (info['status'] !== 'rejected') return quotaOf(info);
  const reset = new Date(count(info['resetsAt']) * 1_000);
  return [reset.getTime() > 0 ? { type: 'rate-limited', until: reset.toISOString() } : { type: 'rate-limited' }];
}

/** The window that is used most; its reset is told of one of them. */
function quotaOf(info: Json): AgentEvent[] {
  const windows = Object.entries(object(info['unifiedWindows']) ?? {}).map(([name, window]) => {
    const { utilization, resetsAt } = object(window) ?? {};
    if (typeof utilization !== 'number') return undefined;
    return quota(utilization, count(resetsAt) || (name === info['rateLimitType'] ? count(info['resetsAt']) : 0));
  });
  const most = fullest(...windows);
  return most ? [{ type: 'quota', ...most }] : [];
}

function question(request: Json): AgentEvent[] {
  if (request['subtype'] !== 'can_use_tool') return [];
  return [
    {
      type: 'waiting',
      what: clip(`a permission for ${label(request['tool_name'])}: ${shown(request['input'])}`, TOOL_MAX),
    },
  ];
}

function result(state: State, event: Json): AgentEvent[] {
  const said = text(event['result']) || (Array.isArray(event['errors']) ? event['errors'].map(text).join('; ') : '');
  const failure = failureOf(event, state.error);
  const total = totalOf(event);
  const usage = total ? correction(state.counted, total, windowOf(event)) : [];
  state.counted = { input: 0, output: 0, cached: 0, costUsd: 0 };
  return [...usage, { type: 'ended', ok: !failure, text: bothEnds(said, TEXT_MAX), ...(failure ? { failure } : {}) }];
}

/** Output tokens are known only here. `total_cost_usd` and `modelUsage` are sums over a resumed session: not used. */
function totalOf(event: Json): Counted | undefined {
  const models = objects(Object.values(object(event['model_usage_since_last_result']) ?? {}));
  if (models.length === 0) return undefined;
  const sum = (key: string) => models.reduce((total, model) => total + count(model[key]), 0);
  const [cached, written] = [sum('cacheReadInputTokens'), sum('cacheCreationInputTokens')];
  return {
    input: sum('inputTokens') + written + cached,
    output: sum('outputTokens'),
    ...{ cached, written, reasoning: sum('thinkingTokens') },
    costUsd: sum('costUSD'),
  };
}

/** The context window of the model that did most: helpers have another one. */
function windowOf(event: Json): { window?: number } {
  const models = objects(Object.values(object(event['model_usage_since_last_result']) ?? {}));
  const most = models.toSorted((one, other) => count(other['outputTokens']) - count(one['outputTokens']))[0];
  const window = count(most?.['contextWindow']);
  return window ? { window } : {};
}

const OF_ERROR: Record<string, CoderFailure> = {
  authentication_failed: 'auth',
  billing_error: 'auth',
  rate_limit: 'rate-limited',
  overloaded: 'overloaded',
  server_error: 'overloaded',
};

/** `subtype` says "success" even for a 401: what counts is `is_error`. Undefined: it ended well. */
function failureOf(event: Json, error: string): CoderFailure | undefined {
  const subtype = text(event['subtype']);
  if (subtype === 'success' && event['is_error'] !== true) return undefined;
  if (event['terminal_reason'] === 'prompt_too_long') return 'context-overflow';
  if (subtype === 'error_max_turns' || subtype === 'error_max_budget_usd') return 'over-budget';
  const status = count(event['api_error_status']);
  if (status === 404 && /\bmodel\b/.test(text(event['result']))) return 'model-unknown';
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate-limited';
  if (status >= 500) return 'overloaded';
  if (event['api_error'] === 'connection_failed') return 'overloaded';
  if (text(event['result']).startsWith('Credit balance is too low')) return 'auth';
  return (Object.hasOwn(OF_ERROR, error) && OF_ERROR[error]) || 'agent-error';
}
