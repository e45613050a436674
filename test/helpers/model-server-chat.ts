import { randomUUID } from 'node:crypto';
import type { Answer, DeclaredTool, FailKind, Wire, WireError } from './model-server.ts';
import { callOf } from './model-server-tools.ts';

/** OpenAI's chat completions, which most other CLIs speak to most other models. */
export const chat: Wire = { tools, call: callOf, events, whole, failure };

interface ToolSpec {
  function?: { name: string; parameters?: { properties?: Record<string, unknown> } };
}

function tools(body: Record<string, unknown>): DeclaredTool[] {
  return ((body['tools'] ?? []) as ToolSpec[]).flatMap(({ function: spec }) =>
    spec ? [{ name: spec.name, properties: spec.parameters?.properties ?? {}, custom: false }] : [],
  );
}

function events(answer: Answer): (Record<string, unknown> | string)[] {
  const { model, text, calls } = answer;
  const head = { id: id('chatcmpl-'), object: 'chat.completion.chunk', created: 1, model };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(text).map((content) => chunk({ content })),
    ...calls.map((made, index) => chunk({ tool_calls: [{ index, ...callIn(made) }] })),
    chunk({}, calls.length ? 'tool_calls' : 'stop'),
    { ...head, choices: [], usage: usageOf(answer) },
    '[DONE]',
  ];
}

function whole(answer: Answer): unknown {
  const { model, text, calls } = answer;
  const message = {
    role: 'assistant',
    content: text,
    ...(calls.length ? { tool_calls: calls.map(callIn) } : {}),
  };
  const choice = { index: 0, message, finish_reason: calls.length ? 'tool_calls' : 'stop' };
  return {
    id: id('chatcmpl-'),
    object: 'chat.completion',
    created: 1,
    model,
    choices: [choice],
    usage: usageOf(answer),
  };
}

const callIn = ({ name, input }: Answer['calls'][number]) => ({
  id: id('call_'),
  type: 'function',
  function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
});

const usageOf = ({ usage }: Answer) => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cached },
});

function failure(kind: FailKind, resetSeconds: number): WireError {
  const [status, type, code, message] = SAID[kind];
  const passing = ['rate', 'quota', 'overloaded', 'server'].includes(kind);
  return {
    status,
    headers: passing ? { 'retry-after': String(resetSeconds) } : {},
    body: { error: { message, type, param: null, code } },
  };
}

const SAID: Record<FailKind, [number, string, string | null, string]> = {
  auth: [401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key provided: sk-fake.'],
  rate: [429, 'tokens', 'rate_limit_exceeded', 'Rate limit reached on tokens per min (TPM): Limit 30000.'],
  quota: [429, 'requests', 'rate_limit_exceeded', 'Rate limit reached on requests per day (RPD): Limit 200, Used 200.'],
  overloaded: [503, 'server_error', 'server_is_overloaded', 'Our servers are currently overloaded. Try again later.'],
  overflow: [
    400,
    'invalid_request_error',
    'context_length_exceeded',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 214321 tokens.",
  ],
  server: [500, 'server_error', null, 'The server had an error while processing your request. Sorry about that!'],
  model: [404, 'invalid_request_error', 'model_not_found', 'The model `made-up-1` does not exist.'],
  billing: [
    429,
    'insufficient_quota',
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details.',
  ],
};

const pieces = (text: string): string[] => text.match(/[\s\S]{1,12}/g) ?? [];
const id = (prefix: string) => `${prefix}${randomUUID().replaceAll('-', '').slice(0, 24)}`;
