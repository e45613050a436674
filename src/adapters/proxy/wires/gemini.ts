import { count, object, objects, text, type Json } from '../../../domain/values/json.ts';
import type { Found, Reader, Told } from './wire.ts';

/** Gemini's generateContent. Its calls have no ids, but for some models. */
export const gemini: Reader = { take, results };

function take(chunk: Json, found: Found): void {
  found.model = text(chunk['modelVersion']) || found.model;
  for (const part of objects(chunk['candidates']).flatMap((one) => objects(object(one['content'])?.['parts']))) {
    const call = object(part['functionCall']);
    if (call) found.call({ id: call['id'], name: call['name'], input: call['args'] ?? {} });
  }
  const usage = object(chunk['usageMetadata']);
  if (usage) {
    const reasoning = count(usage['thoughtsTokenCount']);
    found.usage = {
      input: count(usage['promptTokenCount']) + count(usage['toolUsePromptTokenCount']),
      output: count(usage['candidatesTokenCount']) + reasoning,
      cached: count(usage['cachedContentTokenCount']),
      written: 0,
      reasoning,
    };
  }
  const error = object(chunk['error']);
  if (error) found.fail(error, chunk);
}

function results(body: Json): Told[] {
  return objects(body['contents'])
    .flatMap((one) => objects(one['parts']))
    .map((part) => object(part['functionResponse']))
    .filter((said) => said !== undefined)
    .map((said) => ({ id: text(said['id']) || null, text: JSON.stringify([said['name'], said['response']]) }));
}
