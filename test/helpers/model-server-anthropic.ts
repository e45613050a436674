import { randomUUID } from 'node:crypto';
import { callOf } from './model-server-tools.ts';
import type { Answer, DeclaredTool, FailKind, Wire, WireError } from './model-server.ts';

/** Anthropic's Messages API, as Claude Code and others speak it. */
export const anthropic: Wire = { tools, call: callOf, events, whole, failure };

interface ToolSpec {
  name: string;
  input_schema?: { properties?: Record<string, unknown> };
}

function tools(body: Record<string, unknown>): DeclaredTool[] {
  const specs = (body['tools'] ?? []) as ToolSpec[];
  return specs.map((spec) => ({ name: spec.name, properties: spec.input_schema?.properties ?? {}, custom: false }));
}

function events({ model, text, calls, usage }: Answer): Record<string, unknown>[] {
  const counted = {
    input_tokens: usage.input - usage.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached,
  };
  const message = {
    id: id('msg'),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  const blocks = [
    ...(text ? [block({ type: 'text', text: '' }, { type: 'text_delta', text })] : []),
    ...calls.map(({ name, input }) =>
      block(
        { type: 'tool_use', id: id('toolu'), name, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(input) },
      ),
    ),
  ];
  return [
    { type: 'message_start', message: { ...message, usage: { ...counted, output_tokens: 1 } } },
    ...blocks.flatMap((make, index) => make(index)),
    {
      type: 'message_delta',
      delta: { stop_reason: calls.length ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: usage.output },
    },
    { type: 'message_stop' },
  ];
}

const block = (content_block: unknown, delta: unknown) => (index: number) => [
  { type: 'content_block_start', index, content_block },
  { type: 'content_block_delta', index, delta },
  { type: 'content_block_stop', index },
];

function whole({ model, text, calls, usage }: Answer): unknown {
  return {
    id: id('msg'),
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text }, ...calls.map((made) => ({ type: 'tool_use', id: id('toolu'), ...made }))],
    stop_reason: calls.length ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: usage.input, output_tokens: usage.output },
  };
}

function failure(kind: FailKind, resetSeconds: number): WireError {
  const reset = Math.floor(Date.now() / 1000) + resetSeconds;
  const said: Record<FailKind, [number, string, string, Record<string, string>?]> = {
    auth: [401, 'authentication_error', 'invalid x-api-key'],
    rate: [
      429,
      'rate_limit_error',
      'Number of requests has exceeded your per-minute rate limit.',
      { 'retry-after': String(resetSeconds) },
    ],
    quota: [
      429,
      'rate_limit_error',
      "This request would exceed your account's rate limit. Please try again later.",
      {
        'retry-after': String(resetSeconds),
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': String(reset),
        'anthropic-ratelimit-unified-representative-claim': 'five_hour',
        'anthropic-ratelimit-unified-5h-status': 'rejected',
        'anthropic-ratelimit-unified-5h-reset': String(reset),
        'anthropic-ratelimit-unified-5h-utilization': '1.0',
        'x-should-retry': 'false',
      },
    ],
    overloaded: [529, 'overloaded_error', 'Overloaded'],
    overflow: [400, 'invalid_request_error', 'prompt is too long: 214321 tokens > 200000 maximum'],
    server: [500, 'api_error', 'Internal server error'],
    model: [404, 'not_found_error', 'model: made-up-1'],
    billing: [
      400,
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.',
    ],
  };
  const [status, type, message, headers = {}] = said[kind];
  return { status, headers, body: { type: 'error', error: { type, message }, request_id: id('req') } };
}

const id = (prefix: string) => `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
