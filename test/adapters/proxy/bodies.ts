import type { WireApi } from '../../../src/domain/agent/upstream.ts';

/** Bodies in the words of each API: a call for a shell command and one for an edit, with tokens; streamed and plain. */
export interface Bodies {
  api: WireApi;
  path: string;
  /** What the model is told: the results of two earlier calls. */
  request: unknown;
  streamed: string;
  plain: unknown;
  ids: (string | null)[];
  names: string[];
  told: (string | null)[];
  usage: { input: number; output: number; cached: number; written: number; reasoning: number };
}

const COMMAND = { command: 'echo "ä €" && npm test' };
const EDIT = { file_path: '/w/src/ä.ts', content: 'x = "1"\n' };
const sse = (events: unknown[], named = false): string =>
  events
    .map((event) => {
      const name = named ? `event: ${(event as { type: string }).type}\n` : '';
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
const pieces = (text: string): string[] => [text.slice(0, 5), text.slice(5, 17), text.slice(17)];

const anthropicBlock = (index: number, id: string, [name, input]: [string, unknown]) => [
  { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } },
  ...pieces(JSON.stringify(input)).map((partial_json) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json },
  })),
  { type: 'content_block_stop', index },
];

const anthropic: Bodies = {
  api: 'anthropic',
  path: '/v1/messages',
  request: {
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_0', name: 'Read', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_0', content: 'hi' },
          { type: 'tool_result', tool_use_id: 'toolu_00', content: [{ type: 'text', text: 'hi' }] },
        ],
      },
    ],
  },
  streamed: sse(
    [
      {
        type: 'message_start',
        message: {
          model: 'claude-x',
          content: [],
          usage: { input_tokens: 10, cache_creation_input_tokens: 20, cache_read_input_tokens: 70, output_tokens: 1 },
        },
      },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'data: not an event' } },
      { type: 'content_block_stop', index: 0 },
      ...anthropicBlock(1, 'toolu_1', ['Bash', COMMAND]),
      ...anthropicBlock(2, 'toolu_2', ['Write', EDIT]),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 40 } },
      { type: 'message_stop' },
    ],
    true,
  ),
  plain: {
    type: 'message',
    model: 'claude-x',
    content: [
      { type: 'text', text: 'x' },
      { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: COMMAND },
      { type: 'tool_use', id: 'toolu_2', name: 'Write', input: EDIT },
    ],
    usage: { input_tokens: 10, cache_creation_input_tokens: 20, cache_read_input_tokens: 70, output_tokens: 40 },
  },
  ids: ['toolu_1', 'toolu_2'],
  names: ['Bash', 'Write'],
  told: ['toolu_0', 'toolu_00'],
  usage: { input: 100, output: 40, cached: 70, written: 20, reasoning: 0 },
};

const items = [
  { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'x' }] },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'exec_command', arguments: JSON.stringify(COMMAND) },
  { type: 'custom_tool_call', id: 'ct_1', call_id: 'call_2', name: 'apply_patch', input: '*** Begin Patch\n' },
];
const responsesEnd = {
  object: 'response',
  model: 'gpt-x',
  status: 'completed',
  output: items,
  usage: {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 70 },
    output_tokens: 40,
    output_tokens_details: { reasoning_tokens: 15 },
  },
};
const responses: Bodies = {
  api: 'openai-responses',
  path: '/v1/responses',
  request: {
    input: [
      { type: 'message', role: 'user', content: [] },
      { type: 'function_call_output', call_id: 'call_0', output: 'hi' },
      { type: 'custom_tool_call_output', call_id: 'call_00', output: 'ho' },
    ],
  },
  streamed: sse(
    [
      { type: 'response.created', response: { object: 'response', model: 'gpt-x', output: [] } },
      ...items.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
        { type: 'response.function_call_arguments.delta', output_index, delta: '{"comm' },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: responsesEnd },
    ],
    true,
  ),
  plain: responsesEnd,
  ids: ['call_1', 'call_2'],
  names: ['exec_command', 'apply_patch'],
  told: ['call_0', 'call_00'],
  usage: { input: 100, output: 40, cached: 70, written: 0, reasoning: 15 },
};

const chatUsage = {
  prompt_tokens: 100,
  completion_tokens: 40,
  prompt_tokens_details: { cached_tokens: 70 },
  completion_tokens_details: { reasoning_tokens: 15 },
};
const chatCall = (id: string, [name, input]: [string, unknown]) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
});
const delta = (part: unknown, finish_reason: string | null = null) => ({
  model: 'gpt-x',
  choices: [{ index: 0, delta: part, finish_reason }],
});
const chat: Bodies = {
  api: 'openai-chat',
  path: '/v1/chat/completions',
  request: {
    messages: [
      { role: 'user', content: 'go' },
      { role: 'tool', tool_call_id: 'call_0', content: 'hi' },
      { role: 'tool', tool_call_id: 'call_00', content: [{ type: 'text', text: 'ho' }] },
    ],
  },
  streamed: `${sse([
    delta({ role: 'assistant', content: 'x' }),
    delta({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'bash', arguments: '' } }] }),
    ...pieces(JSON.stringify(COMMAND)).map((text) =>
      delta({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
    ),
    delta({ tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'edit', arguments: '' } }] }),
    ...pieces(JSON.stringify(EDIT)).map((text) => delta({ tool_calls: [{ index: 1, function: { arguments: text } }] })),
    delta({}, 'tool_calls'),
    { model: 'gpt-x', choices: [], usage: chatUsage },
  ])}data: [DONE]\n\n`,
  plain: {
    model: 'gpt-x',
    choices: [
      {
        index: 0,
        message: { tool_calls: [chatCall('call_1', ['bash', COMMAND]), chatCall('call_2', ['edit', EDIT])] },
      },
    ],
    usage: chatUsage,
  },
  ids: ['call_1', 'call_2'],
  names: ['bash', 'edit'],
  told: ['call_0', 'call_00'],
  usage: { input: 100, output: 40, cached: 70, written: 0, reasoning: 15 },
};

const geminiChunk = (parts: unknown[], output: number) => ({
  candidates: [{ content: { role: 'model', parts } }],
  modelVersion: 'gemini-x',
  usageMetadata: {
    promptTokenCount: 100,
    candidatesTokenCount: output,
    thoughtsTokenCount: 15,
    cachedContentTokenCount: 70,
  },
});
const gemini: Bodies = {
  api: 'gemini',
  path: '/v1beta/models/gemini-x:streamGenerateContent',
  request: {
    contents: [
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'model', parts: [{ functionCall: { name: 'run', args: {} } }] },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'run', response: { output: 'hi' } } },
          { functionResponse: { id: 'own', name: 'run', response: { output: 'ho' } } },
        ],
      },
    ],
  },
  streamed: sse([
    geminiChunk([{ text: 'x' }], 5),
    geminiChunk([{ functionCall: { name: 'run_shell_command', args: COMMAND } }], 10),
    geminiChunk([{ functionCall: { name: 'write_file', args: EDIT } }], 25),
  ]),
  plain: geminiChunk(
    [
      { functionCall: { name: 'run_shell_command', args: COMMAND } },
      { functionCall: { name: 'write_file', args: EDIT } },
    ],
    25,
  ),
  ids: [null, null],
  names: ['run_shell_command', 'write_file'],
  told: [null, 'own'],
  usage: { input: 100, output: 40, cached: 70, written: 0, reasoning: 15 },
};

export const BODIES: readonly Bodies[] = [anthropic, responses, chat, gemini];
export { COMMAND };
