import { count, object, objects, text, type Json } from '../../../domain/values/json.ts';
import { told, type Found, type Reader, type Told } from './wire.ts';

/** Anthropic's Messages API. */
export const anthropic: Reader = { take, isText, results };

/** Inside of a text these quotes would have backslashes. */
function isText(data: string): boolean {
  return data.startsWith('{"type":"content_block_delta"') && data.includes('"delta":{"type":"text_delta"');
}

function take(event: Json, found: Found): void {
  const key = String(event['index']);
  switch (event['type']) {
    case 'message_start':
      return message(object(event['message']) ?? {}, found);
    case 'content_block_start': {
      const block = object(event['content_block']) ?? {};
      if (!isCall(block)) return;
      found.begin(key, { id: block['id'], name: block['name'] });
      // Usually empty here, and told by the deltas.
      const input = object(block['input']);
      if (input && Object.keys(input).length > 0) found.append(key, JSON.stringify(input));
      return;
    }
    case 'content_block_delta':
      return found.append(key, text(object(event['delta'])?.['partial_json']));
    case 'content_block_stop':
      return found.end(key);
    case 'message_delta':
      return usage(object(event['usage']) ?? {}, found);
    case 'message':
      return message(event, found);
    case 'error':
      return found.fail(object(event['error']) ?? {}, event);
    default:
  }
}

const isCall = (block: Json): boolean => /^(server_|mcp_)?tool_use$/.test(text(block['type']));

function message(said: Json, found: Found): void {
  found.model = text(said['model']) || found.model;
  for (const block of objects(said['content']).filter(isCall))
    found.call({ id: block['id'], name: block['name'], input: block['input'] });
  usage(object(said['usage']) ?? {}, found);
}

/** The numbers of `message_delta` are sums that replace those of `message_start`; some servers leave out the input there. */
function usage(said: Json, found: Found): void {
  const before = found.usage ?? { input: 0, output: 0, cached: 0, written: 0, reasoning: 0 };
  const plain = count(said['input_tokens']);
  const cached = count(said['cache_read_input_tokens']);
  const written = count(said['cache_creation_input_tokens']);
  const input = plain + cached + written;
  found.usage = {
    ...before,
    ...(input > 0 ? { input, cached, written } : {}),
    output: count(said['output_tokens']) || before.output,
  };
}

function results(body: Json): Told[] {
  return objects(body['messages'])
    .flatMap((one) => objects(one['content']))
    .filter(({ type }) => type === 'tool_result')
    .map((block) => ({ id: text(block['tool_use_id']), text: told(block['content']) }));
}
