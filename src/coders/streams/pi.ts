import { bothEnds, type AgentEvent } from '../../domain/agent/event.ts';
import { failureIn } from '../shared/failures.ts';
import {
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

/**
 * `pi --mode json`: one JSON object a line, as observed on 0.73.1. Call ids are the wire's. It exits with 0 whatever became
 * of it: what counts is why the last message stopped. Its own retries are off, so that the first `agent_end` is the end.
 */
export const piProtocol: Protocol = { structured: true, parser: () => parse };

function parse(line: string): AgentEvent[] {
  // Most lines are the parts of messages that come whole later.
  if (line.startsWith('{"type":"message_update"')) return [];
  const event = parseObject(line);
  switch (event?.['type']) {
    case 'session':
      return [{ type: 'started', session: label(event['id']) }];
    case 'message_end':
      return message(object(event['message']) ?? {});
    case 'tool_execution_start': {
      const args = object(event['args']);
      const input = shown(text(args?.['command']) || (args ?? ''));
      return [{ type: 'tool-call', id: label(event['toolCallId']), name: label(event['toolName']), input }];
    }
    case 'tool_execution_end': {
      const output = bothEnds(textOf(object(event['result'])?.['content']), TOOL_MAX);
      return [{ type: 'tool-result', id: label(event['toolCallId']), ok: event['isError'] !== true, output }];
    }
    case 'agent_end':
      return [ended(objects(event['messages']))];
    default:
      return [];
  }
}

function message(said: Json): AgentEvent[] {
  if (said['role'] !== 'assistant') return [];
  const words = textOf(said['content']);
  return [...(words ? [{ type: 'text' as const, text: bothEnds(words, TEXT_MAX) }] : []), ...usage(said)];
}

function usage(said: Json): AgentEvent[] {
  const used = object(said['usage']) ?? {};
  const [cached, written] = [count(used['cacheRead']), count(used['cacheWrite'])];
  const input = count(used['input']) + cached + written;
  const output = count(used['output']);
  if (input + output === 0) return [];
  const costUsd = count(object(used['cost'])?.['total']);
  return [
    {
      type: 'usage',
      input,
      output,
      cached,
      ...(written ? { written } : {}),
      ...(costUsd ? { costUsd } : {}),
      context: input + output,
    },
  ];
}

function ended(messages: readonly Json[]): AgentEvent {
  const last = messages.findLast((each) => each['role'] === 'assistant') ?? {};
  const words = bothEnds(textOf(last['content']), TEXT_MAX);
  if (last['stopReason'] === 'stop') return { type: 'ended', ok: true, text: words };
  const why = text(last['errorMessage']) || `stopped: ${label(last['stopReason']) || 'no message'}`;
  return { type: 'ended', ok: false, text: bothEnds(why, TEXT_MAX), failure: failureIn(why) };
}

const textOf = (content: unknown): string =>
  objects(content)
    .filter((part) => part['type'] === 'text')
    .map((part) => text(part['text']))
    .join('\n');
