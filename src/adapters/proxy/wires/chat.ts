import { count, object, objects, text, type Json } from '../../../domain/values/json.ts';
import { parsed, told, type Found, type Reader, type Told } from './wire.ts';

/** OpenAI's chat completions, as many servers speak them. */
export const chat: Reader = { take, isText, results };

function isText(data: string, { model }: Found): boolean {
  return model !== undefined && !/"tool_calls"|"usage"|"error"/.test(data);
}

function take(chunk: Json, found: Found): void {
  found.model = text(chunk['model']) || found.model;
  for (const choice of objects(chunk['choices'])) {
    const said = object(choice['message']);
    for (const call of objects(said?.['tool_calls']))
      found.call({ id: call['id'], name: nameOf(call), input: parsed(argumentsOf(call)) });
    for (const [at, piece] of objects(object(choice['delta'])?.['tool_calls']).entries()) {
      const key = JSON.stringify([choice['index'], piece['index'] ?? at]);
      // Each piece may repeat the id; a first piece without one is of a server that has none.
      if (!found.has(key)) found.begin(key, { id: piece['id'], name: nameOf(piece) });
      found.append(key, argumentsOf(piece));
    }
    if (choice['finish_reason']) found.endAll();
  }
  const usage = object(chunk['usage']);
  if (usage)
    found.usage = {
      input: count(usage['prompt_tokens']),
      output: count(usage['completion_tokens']),
      cached:
        count(object(usage['prompt_tokens_details'])?.['cached_tokens']) || count(usage['prompt_cache_hit_tokens']),
      written: 0,
      reasoning: count(object(usage['completion_tokens_details'])?.['reasoning_tokens']),
    };
  const error = object(chunk['error']);
  if (error) found.fail(error, chunk);
}

const nameOf = (call: Json): unknown => object(call['function'])?.['name'] ?? object(call['custom'])?.['name'];
const argumentsOf = (call: Json): string =>
  text(object(call['function'])?.['arguments'] ?? object(call['custom'])?.['input']);

function results(body: Json): Told[] {
  return objects(body['messages'])
    .filter(({ role }) => role === 'tool')
    .map((one) => ({ id: text(one['tool_call_id']), text: told(one['content']) }));
}
