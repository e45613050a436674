import type { AgentEvent } from '../../domain/agent/event.ts';
import { claudeProtocol } from './claude.ts';
import { failureIn } from '../shared/failures.ts';
import { count, object, parseObject, text } from '../../domain/values/json.ts';
import type { Protocol } from '../shared/overlay.ts';

/**
 * `amp --execute --stream-json`, by its documentation: Claude Code's lines with differences. Messages have no ids, their input
 * tokens include the cached ones, their output tokens are final, and a failed result says why in `error`.
 */
export const ampProtocol: Protocol = { structured: true, parser };

function parser(earlier: readonly AgentEvent[] = []): (line: string) => AgentEvent[] {
  const parse = claudeProtocol.parser(earlier);
  let messages = 0;
  return (line) => {
    const event = parseObject(line);
    if (event?.['type'] === 'assistant') {
      messages += 1;
      const message = object(event['message']) ?? {};
      const usage = object(message['usage']) ?? {};
      const cached = count(usage['cache_read_input_tokens']) + count(usage['cache_creation_input_tokens']);
      const own = { ...usage, input_tokens: Math.max(0, count(usage['input_tokens']) - cached) };
      return parse(JSON.stringify({ ...event, message: { ...message, id: `message-${messages}`, usage: own } }));
    }
    if (event?.['type'] === 'result' && text(event['error'])) {
      const said = parse(JSON.stringify({ ...event, result: event['error'], is_error: true }));
      return said.map((each) => (each.type === 'ended' ? { ...each, failure: failureIn(each.text) } : each));
    }
    return parse(line);
  };
}
