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

/**
 * `gemini -o stream-json`: one JSON object a line, as observed on 0.61.0. Call ids are the CLI's own, not the wire's; tokens
 * come with the result alone; what it retries it says on stderr, and a refused tool is missing without a word.
 */
export const geminiProtocol: Protocol = { structured: true, parser };

interface State {
  started: boolean;
  /** What the model said since its last tool call: it comes in pieces. */
  said: string;
  /** Why the CLI stopped the agent although the result will say success. */
  stopped: string;
  counted: Counted;
}

const STOPPED = 'Gemini CLI: ';

function parser(earlier: readonly AgentEvent[] = []): (line: string) => AgentEvent[] {
  const last = earlier.findLastIndex(({ type }) => type === 'tool-call' || type === 'tool-result');
  const texts = (from: number) => earlier.slice(from).flatMap((event) => (event.type === 'text' ? event.text : []));
  const state: State = {
    started: earlier.some((event) => event.type === 'started'),
    said: texts(last + 1)
      .filter((piece) => !piece.startsWith(STOPPED))
      .join(''),
    stopped: texts(0).findLast((piece) => piece.startsWith(STOPPED)) ?? '',
    counted: countedIn(earlier),
  };
  return (line) => {
    const event = parseObject(line);
    if (!event) return [];
    switch (event['type']) {
      case 'init':
        return started(state, event);
      case 'message':
        return event['role'] === 'assistant' ? message(state, text(event['content'])) : [];
      case 'tool_use':
        state.said = '';
        return [
          {
            type: 'tool-call',
            id: label(event['tool_id']),
            name: label(event['tool_name']),
            input: shown(text(object(event['parameters'])?.['command']) || object(event['parameters'])),
          },
        ];
      case 'tool_result':
        state.said = '';
        return [toolResult(event)];
      case 'error':
        return stopped(state, text(event['message']));
      case 'result':
        return result(state, event);
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

function message(state: State, piece: string): AgentEvent[] {
  if (!piece) return [];
  state.said = clip(state.said + piece, 2 * TEXT_MAX);
  return [{ type: 'text', text: bothEnds(piece, TEXT_MAX) }];
}

function toolResult(event: Json): AgentEvent {
  const output = text(event['output']) || text(object(event['error'])?.['message']);
  return {
    type: 'tool-result',
    id: label(event['tool_id']),
    ok: event['status'] === 'success',
    output: bothEnds(output, TOOL_MAX),
  };
}

/** A loop, too many turns, a hook, an answer that is none: the result then may still say success. */
function stopped(state: State, said: string): AgentEvent[] {
  state.stopped = clip(STOPPED + said, TEXT_MAX);
  return [{ type: 'text', text: state.stopped }];
}

function result(state: State, event: Json): AgentEvent[] {
  const stats = object(event['stats']) ?? {};
  const total: Counted = {
    input: count(stats['input_tokens']),
    output: count(stats['output_tokens']),
    cached: count(stats['cached']),
    costUsd: 0,
  };
  const usage = correction(state.counted, total);
  if (event['status'] === 'success' && !state.stopped)
    return [...usage, { type: 'ended', ok: true, text: bothEnds(state.said, TEXT_MAX) }];
  const said = text(object(event['error'])?.['message']) || state.stopped;
  const failure = failureOf(said);
  const until = failure === 'rate-limited' ? resetIn(said, Date.parse(text(event['timestamp']))) : undefined;
  return [
    ...usage,
    ...(failure === 'rate-limited' ? [{ type: 'rate-limited' as const, ...(until ? { until } : {}) }] : []),
    { type: 'ended', ok: false, text: clip(said, TEXT_MAX), failure },
  ];
}

// The error's type is "unknown" for all of them, and its message the API's own, sometimes as JSON.
const FAILURES: readonly (readonly [RegExp, CoderFailure])[] = [
  [/exceeds the maximum number of tokens|input token count/i, 'context-overflow'],
  [/API key not valid|API_KEY_INVALID|UNAUTHENTICATED|PERMISSION_DENIED|"code":\s*40[13]\b|billing/i, 'auth'],
  [/exhausted|quota|rate limit|"code":\s*429\b/i, 'rate-limited'],
  [/overloaded|UNAVAILABLE|INTERNAL|high demand|"code":\s*5\d\d\b/i, 'overloaded'],
  [/fetch failed|ECONN|ETIMEDOUT|socket hang up|terminated|network/i, 'overloaded'],
  [/Maximum session turns|turn limit/i, 'over-budget'],
];

export function failureOf(said: string): CoderFailure {
  return FAILURES.find(([words]) => words.test(said))?.[1] ?? 'agent-error';
}

/** ISO time from "Suggested retry after 31s." said `at` then; a daily quota names none. */
function resetIn(said: string, at: number): string | undefined {
  const [, seconds] = /retry (?:after|in) (\d{1,6})/.exec(said) ?? [];
  return seconds && at > 0 ? new Date(at + Number(seconds) * 1_000).toISOString() : undefined;
}
