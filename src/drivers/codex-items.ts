import { bothEnds } from '../domain/agent/event.ts';
import { count, label, object, parseObject, shown, text, TOOL_MAX, type Json } from '../domain/values/json.ts';
import type { Printer } from './printer.ts';

/** The items of a turn as events. Their ids are the ids of the calls on the wire. */
export class CodexItems {
  readonly #out: Printer;
  /** Calls of the model without an answer so far. */
  readonly #asked = new Map<string, { name: string; input: string }>();
  /** Ids of calls that have an item. */
  readonly #told = new Set<string>();
  /** The thread's tokens so far; undefined: nothing was told yet. */
  #counted: Tokens | undefined;

  constructor(out: Printer) {
    this.#out = out;
  }

  started(item: Json): void {
    const name = nameOf(item);
    if (!name) return this.#out.busy();
    this.#told.add(label(item['id']));
    this.#out.call(label(item['id']), name, shown(askedOf(item)));
  }

  completed(item: Json): void {
    if (item['type'] === 'agentMessage') return this.#out.text(text(item['text']));
    this.started(item);
    if (nameOf(item)) this.#out.result(label(item['id']), isOk(item), saidBy(item));
  }

  /** What the model asked for, and was told: of a call without an item, which Codex has refused, that is all there is. */
  raw(item: Json): void {
    const id = label(item['call_id']);
    const type = text(item['type']);
    const name = ITEM_OF[label(item['name'])];
    if (name && (type === 'function_call' || type === 'custom_tool_call')) {
      this.#asked.set(id, { name, input: commandIn(text(item['arguments'] ?? item['input'])) });
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      const asked = this.#asked.get(id);
      this.#asked.delete(id);
      if (!asked || this.#told.has(id)) return;
      this.#out.call(id, asked.name, asked.input);
      this.#out.result(id, false, typeof item['output'] === 'string' ? item['output'] : shown(item['output']));
    }
  }

  /** After each model call: totals of the thread, so one that was missed is counted with the next; an earlier run's are not. */
  used(usage: Json): void {
    const total = tokensOf(usage['total']);
    const by = this.#counted ? minus(total, this.#counted) : tokensOf(usage['last']);
    this.#counted = total;
    const context = count(object(usage['last'])?.['totalTokens']);
    const window = count(usage['modelContextWindow']);
    const fill = context ? { context, ...(window ? { window } : {}) } : {};
    if (by.input + by.output > 0) this.#out.print({ type: 'usage', ...by, ...fill });
  }
}

interface Tokens {
  input: number;
  output: number;
  cached: number;
  written: number;
  reasoning: number;
}

function tokensOf(value: unknown): Tokens {
  const tokens = object(value) ?? {};
  return {
    input: count(tokens['inputTokens']),
    output: count(tokens['outputTokens']),
    cached: count(tokens['cachedInputTokens']),
    written: count(tokens['cacheWriteInputTokens']),
    reasoning: count(tokens['reasoningOutputTokens']),
  };
}

const minus = (a: Tokens, b: Tokens): Tokens => ({
  input: Math.max(0, a.input - b.input),
  output: Math.max(0, a.output - b.output),
  cached: Math.max(0, a.cached - b.cached),
  written: Math.max(0, a.written - b.written),
  reasoning: Math.max(0, a.reasoning - b.reasoning),
});

const NAMES: Record<string, string> = {
  commandExecution: 'command_execution',
  fileChange: 'file_change',
  webSearch: 'web_search',
  imageView: 'image_view',
  imageGeneration: 'image_generation',
  collabAgentToolCall: 'agent',
  functionCallOutput: 'function_call',
};

/** The model's tools whose calls become items once they run. */
const ITEM_OF: Record<string, string> = {
  exec_command: 'command_execution',
  shell_command: 'command_execution',
  shell: 'command_execution',
  apply_patch: 'file_change',
};

/** The command in a call's arguments, else the arguments. */
function commandIn(given: string): string {
  const { cmd, command = cmd } = parseObject(given) ?? {};
  return typeof command === 'string' ? command : Array.isArray(command) ? command.join(' ') : given;
}

/** Undefined: no tool call, e.g. a thought. */
function nameOf(item: Json): string | undefined {
  const type = text(item['type']);
  if (type === 'mcpToolCall') return `${label(item['server'])}.${label(item['tool'])}`;
  if (type === 'dynamicToolCall') return label(item['tool']);
  return Object.hasOwn(NAMES, type) ? NAMES[type] : undefined;
}

function askedOf(item: Json): unknown {
  if (item['type'] === 'fileChange') return item['changes'];
  return item['command'] ?? item['arguments'] ?? item['query'] ?? item['prompt'] ?? item['path'] ?? '';
}

function isOk(item: Json): boolean {
  const exit = item['exitCode'];
  if (item['success'] === false || item['error']) return false;
  return !['failed', 'declined'].includes(text(item['status'])) && (typeof exit !== 'number' || exit === 0);
}

function saidBy(item: Json): string {
  const said = item['aggregatedOutput'] ?? item['result'] ?? item['error'] ?? item['contentItems'] ?? item['output'];
  const output = said ?? item['status'] ?? '';
  return typeof output === 'string' ? bothEnds(output, TOOL_MAX) : shown(output);
}
