import { clip, count, label, object, objects, shown, text, TOOL_MAX, type Json } from '../domain/values/json.ts';
import type { AgentEvent } from '../domain/agent/event.ts';
import type { Printer } from './printer.ts';

interface Call {
  name: string;
  title: string;
  input: unknown;
  output: string;
}

/** `session/update`s of one prompt as events. */
export class AcpUpdates {
  readonly #out: Printer;
  /** Calls told and not yet ended. */
  readonly #calls = new Map<string, Call>();
  /** Tokens in the conversation, and what the session has cost so far, where the agent tells. */
  context = 0;
  costUsd = 0;

  constructor(out: Printer) {
    this.#out = out;
  }

  take(update: Json): void {
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk': {
        const content = object(update['content']);
        return this.#out.piece(text(content?.['text']), label(update['messageId']) || undefined);
      }
      case 'tool_call':
      case 'tool_call_update':
        return this.tool(update);
      case 'usage_update':
        return this.#used(update);
      default:
        return this.#out.busy();
    }
  }

  /** Also what a request for permission tells of its call. A call is told once it runs: its input comes in parts before. */
  tool(update: Json, runs = false): void {
    const id = label(update['toolCallId']);
    if (!id) return;
    const call = this.#calls.get(id) ?? { name: '', title: '', input: undefined, output: '' };
    this.#calls.set(id, call);
    call.name = nameOf(update) || call.name;
    call.title = text(update['title']) || call.title;
    if (isTold(update['rawInput'])) call.input = update['rawInput'];
    call.output = outputOf(update) || call.output;
    const { status } = update;
    if (runs || (status && status !== 'pending')) {
      this.#out.call(id, call.name || clip(call.title, 80), inputOf(call));
    }
    if (status === 'completed' || status === 'failed') {
      this.#out.result(id, status === 'completed', call.output);
      this.#calls.delete(id);
    } else this.#out.busy();
  }

  #used(update: Json): void {
    const context = count(update['used']);
    const cost = object(update['cost']);
    if (cost && (cost['currency'] ?? 'USD') === 'USD') this.costUsd = count(cost['amount']);
    if (context === this.context) return;
    this.context = context;
    const window = count(update['size']);
    this.#out.print({ type: 'usage', input: 0, output: 0, cached: 0, context, ...(window ? { window } : {}) });
  }
}

const isTold = (input: unknown): boolean =>
  typeof input === 'string' ? input !== '' : Object.keys(object(input) ?? {}).length > 0;

/** The tool's own name where the agent tells it, else its kind: `execute`, `edit`, `read`, … */
function nameOf(update: Json): string {
  const claude = object(object(update['_meta'])?.['claudeCode']);
  return label(update['name']) || label(claude?.['toolName']) || label(update['kind']);
}

/** The command of a shell, else the whole input, else what the call is called. */
function inputOf({ input, title }: Call): string {
  const command = object(input)?.['command'];
  if (typeof command === 'string' && command) return shown(command);
  if (Array.isArray(command)) return shown(command.map(String).join(' '));
  return input === undefined ? clip(title, TOOL_MAX) : shown(input);
}

function outputOf(update: Json): string {
  const parts = objects(update['content']).map((part) => {
    if (part['type'] === 'diff') return `[changed ${text(part['path'])}]`;
    return text(object(part['content'])?.['text']);
  });
  const said = parts.filter((part) => part !== '').join('\n');
  if (said) return said;
  const raw = update['rawOutput'];
  if (raw === undefined || raw === null) return '';
  const output = object(raw)?.['output'] ?? object(raw)?.['stdout'] ?? raw;
  return shown(output);
}

/**
 * The tokens of a prompt, by its response: `usage`, or Gemini's `_meta.quota`. Whether the input counts what was cached is
 * seen from the total: codex's and claude's adapters leave it out.
 */
export function usageOf(response: Json): Extract<AgentEvent, { type: 'usage' }> | undefined {
  const usage = object(response['usage']);
  const quota = object(object(object(response['_meta'])?.['quota'])?.['token_count']);
  if (quota) {
    return { type: 'usage', input: count(quota['input_tokens']), output: count(quota['output_tokens']), cached: 0 };
  }
  if (!usage) return undefined;
  const [input, output] = [count(usage['inputTokens']), count(usage['outputTokens'])];
  const [cached, written] = [count(usage['cachedReadTokens']), count(usage['cachedWriteTokens'])];
  const reasoning = count(usage['thoughtTokens']);
  const total = count(usage['totalTokens']);
  const within = total > 0 && (total === input + output || total === input + output + reasoning);
  return {
    type: 'usage',
    input: within ? input : input + cached + written,
    output,
    cached,
    ...(written ? { written } : {}),
    ...(reasoning ? { reasoning } : {}),
  };
}
