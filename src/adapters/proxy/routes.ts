import type { WireApi } from '../../domain/agent/upstream.ts';
import { anthropic } from './wires/anthropic.ts';
import { chat } from './wires/chat.ts';
import { gemini } from './wires/gemini.ts';
import { responses } from './wires/responses.ts';
import type { Reader } from './wires/wire.ts';

export interface Route {
  /** Missing where the answer holds nothing of a conversation, e.g. a list of models. */
  reader?: Reader;
}

type Rule = readonly [method: string, path: RegExp, reader?: Reader];

const OPENAI: readonly Rule[] = [
  ['POST', /^\/v\d\w*\/responses$/, responses],
  ['POST', /^\/v\d\w*\/chat\/completions$/, chat],
  ['POST', /^\/v\d\w*\/(responses\/compact|embeddings)$/],
  ['GET', /^\/v\d\w*\/models(\/[\w.:@/-]+)?$/],
];

/** The paths of each API that are passed on, with the reader of what goes over them. */
const RULES: Record<WireApi, readonly Rule[]> = {
  anthropic: [
    ['POST', /^\/v1\/messages$/, anthropic],
    ['POST', /^\/v1\/messages\/count_tokens$/],
    ['GET', /^\/v1\/models(\/[\w.:@-]+)?$/],
  ],
  'openai-responses': OPENAI,
  'openai-chat': OPENAI,
  gemini: [
    ['POST', /^\/v\d\w*\/models\/[\w.@-]+:(stream)?[gG]enerateContent$/, gemini],
    ['POST', /^\/v\d\w*\/models\/[\w.@-]+:(countTokens|embedContent|batchEmbedContents)$/],
    ['GET', /^\/v\d\w*\/models(\/[\w.@-]+)?$/],
  ],
};

/** Undefined: not one of the API's own paths. What is encoded, or goes up, is none. */
export function routeOf(api: WireApi, method: string, path: string): Route | undefined {
  if (path.includes('..') || path.includes('//')) return undefined;
  const rule = RULES[api].find(([verb, shape]) => verb === method && shape.test(path));
  return rule && (rule[2] ? { reader: rule[2] } : {});
}
