import { randomUUID } from 'node:crypto';
import { used } from './model-server-tools.ts';
import type { Answer, Call, DeclaredTool, FailKind, ToolStep, Wire, WireError } from './model-server.ts';

/** OpenAI's Responses API, as Codex speaks it. */
export const responses: Wire = { tools, call, events, whole, failure };

interface ToolSpec {
  type: string;
  name?: string;
  parameters?: { properties?: Record<string, unknown> };
  tools?: ToolSpec[];
}

const SHELLS = ['bash', 'exec_command', 'shell_command', 'shell'];

function tools(body: Record<string, unknown>): DeclaredTool[] {
  const input = Array.isArray(body['input']) ? (body['input'] as { tools?: ToolSpec[] }[]) : [];
  // Those that a search has found are in the conversation.
  const found = input.flatMap(({ tools: list }) => list ?? []);
  const specs = [...((body['tools'] ?? []) as ToolSpec[]), ...found].flatMap((spec) =>
    spec.type === 'namespace' ? (spec.tools ?? []).map((tool) => ({ ...tool, namespace: spec.name })) : [spec],
  );
  return specs.map((spec: ToolSpec & { namespace?: string | undefined }) => ({
    name: spec.name ?? spec.type,
    ...(spec.namespace ? { namespace: spec.namespace } : {}),
    properties: spec.parameters?.properties ?? {},
    custom: spec.type === 'custom',
  }));
}

/** Writes by `apply_patch` where it is offered (only for models that the CLI knows), else by the shell. */
function call(step: ToolStep, offered: DeclaredTool[], cwd: string): Call {
  if ('use' in step) return used(step, offered);
  if ('find' in step) return { name: 'tool_search', input: { query: step.find } };
  if ('sh' in step) return shell(step.sh, offered);
  if ('read' in step) return shell(`cat '${step.read}'`, offered);
  const patch = offered.find((tool) => tool.name === 'apply_patch');
  const content = step.content.replace(/\n$/, '');
  if (!patch) return shell(`cat > '${step.write}' <<'END'\n${content}\nEND`, offered);
  const file = step.write.startsWith('/') ? step.write : `${cwd}/${step.write}`;
  const added = content.split('\n').map((line) => `+${line}`);
  const text = ['*** Begin Patch', `*** Add File: ${file}`, ...added, '*** End Patch', ''].join('\n');
  return {
    name: patch.name,
    input: patch.custom ? text : { ['patchText' in patch.properties ? 'patchText' : 'input']: text },
  };
}

function shell(command: string, offered: DeclaredTool[]): Call {
  const tool = offered.find(({ name }) => SHELLS.includes(name));
  if (!tool) throw new Error(`no shell among the tools offered: ${offered.map(({ name }) => name).join(', ')}`);
  if ('cmd' in tool.properties) return { name: tool.name, input: { cmd: command } };
  const list = (tool.properties['command'] as { type?: string } | undefined)?.type === 'array';
  return { name: tool.name, input: { command: list ? ['bash', '-lc', command] : command } };
}

type Item = Record<string, unknown> & { id: string };

function items({ text, calls }: Answer): Item[] {
  const message = {
    id: id('msg'),
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  return [
    ...(text ? [message] : []),
    ...calls.map(({ name, input, namespace }) =>
      name === 'tool_search'
        ? { id: id('ts'), type: 'tool_search_call', call_id: id('call'), execution: 'client', arguments: input }
        : typeof input === 'string'
          ? { id: id('ctc'), type: 'custom_tool_call', call_id: id('call'), name, input }
          : {
              id: id('fc'),
              type: 'function_call',
              call_id: id('call'),
              name,
              ...(namespace ? { namespace } : {}),
              arguments: JSON.stringify(input),
            },
    ),
  ];
}

function events(answer: Answer): Record<string, unknown>[] {
  const output = items(answer);
  const response = { id: id('resp'), object: 'response', model: answer.model };
  const list = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...output.flatMap((item, output_index) => [
      {
        type: 'response.output_item.added',
        output_index,
        item: { ...item, status: 'in_progress', ...(item['content'] ? { content: [] } : {}) },
      },
      ...(item['content']
        ? [{ type: 'response.output_text.delta', item_id: item.id, output_index, content_index: 0, delta: answer.text }]
        : []),
      { type: 'response.output_item.done', output_index, item: { ...item, status: 'completed' } },
    ]),
    { type: 'response.completed', response: { ...response, status: 'completed', output, usage: usageOf(answer) } },
  ];
  return list.map((event, sequence_number) => ({ ...event, sequence_number }));
}

const usageOf = ({ usage }: Answer) => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: usage.cached },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: usage.input + usage.output,
});

function whole(answer: Answer): unknown {
  const output = items(answer);
  return {
    id: id('resp'),
    object: 'response',
    model: answer.model,
    status: 'completed',
    output,
    usage: usageOf(answer),
  };
}

function failure(kind: FailKind, resetSeconds: number): WireError {
  const reset = Math.floor(Date.now() / 1000) + resetSeconds;
  const error = (
    [status, code]: [number, string],
    message: string,
    headers: Record<string, string> = {},
  ): WireError => ({
    status,
    headers,
    body: { error: { message, type: code, param: null, code } },
  });
  switch (kind) {
    case 'auth':
      return error([401, 'invalid_api_key'], 'Incorrect API key provided: sk-fake.');
    case 'rate':
      return error([429, 'rate_limit_exceeded'], 'Rate limit reached on tokens per min. Please try again in 2s.', {
        'retry-after': String(resetSeconds),
      });
    case 'quota':
      return {
        status: 429,
        headers: {
          'x-codex-primary-used-percent': '100',
          'x-codex-primary-window-minutes': '300',
          'x-codex-primary-reset-at': String(reset),
        },
        body: {
          error: {
            type: 'usage_limit_reached',
            message: 'The usage limit has been reached',
            plan_type: 'plus',
            resets_at: reset,
          },
        },
      };
    case 'overloaded':
      return error([503, 'server_is_overloaded'], 'Our servers are currently overloaded. Please try again later.');
    case 'overflow':
      return error(
        [400, 'context_length_exceeded'],
        'Your input exceeds the context window of this model. Please adjust your input and try again.',
      );
    case 'server':
      return error([500, 'server_error'], 'The server had an error');
    case 'model':
      return error([404, 'model_not_found'], 'The model `made-up-1` does not exist or you do not have access to it.');
    case 'billing':
      return error(
        [429, 'insufficient_quota'],
        'You exceeded your current quota, please check your plan and billing details.',
      );
  }
}

const id = (prefix: string) => `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
