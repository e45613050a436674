import { count, object, objects, text, type Json } from '../../../domain/values/json.ts';
import { parsed, told, type Found, type Reader, type Told } from './wire.ts';

/** OpenAI's Responses API. */
export const responses: Reader = { take, isText, results };

/** A call is told as a whole when it is done. */
function isText(data: string): boolean {
  return /^\{"type":"response\.[a-z_.]+\.delta"/.test(data);
}

function take(event: Json, found: Found): void {
  switch (event['type']) {
    case 'response.output_item.done':
      return item(object(event['item']) ?? {}, found);
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return whole(object(event['response']) ?? {}, found);
    case 'error':
      return found.fail(object(event['error']) ?? event, event);
    default:
      if (event['object'] === 'response') whole(event, found);
      else if (object(event['error'])) found.fail(object(event['error'])!, event);
  }
}

/** `function_call`, `custom_tool_call`, `local_shell_call`, and what the server does by itself, such as `web_search_call`. */
function item(said: Json, found: Found): void {
  const type = text(said['type']);
  if (!type.endsWith('_call')) return;
  const input = said['arguments'] ?? said['input'] ?? said['action'] ?? '';
  found.call({
    id: said['call_id'] ?? said['id'],
    name: said['name'] ?? type,
    input: type === 'function_call' && typeof input === 'string' ? parsed(input) : input,
  });
}

function whole(said: Json, found: Found): void {
  found.model = text(said['model']) || found.model;
  for (const one of objects(said['output'])) item(one, found);
  const usage = object(said['usage']);
  if (usage)
    found.usage = {
      input: count(usage['input_tokens']),
      output: count(usage['output_tokens']),
      cached: count(object(usage['input_tokens_details'])?.['cached_tokens']),
      written: 0,
      reasoning: count(object(usage['output_tokens_details'])?.['reasoning_tokens']),
    };
  const error = object(said['error']);
  if (error) found.fail(error, said);
}

function results(body: Json): Told[] {
  return objects(body['input'])
    .filter(({ type }) => text(type).endsWith('_call_output'))
    .map((one) => ({ id: text(one['call_id']), text: told(one['output']) }));
}
