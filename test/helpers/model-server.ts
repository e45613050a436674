import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropic } from './model-server-anthropic.ts';
import { chat } from './model-server-chat.ts';
import { gemini } from './model-server-gemini.ts';
import { responses } from './model-server-responses.ts';

/** One answer of the scripted model. Consumed by one request that offers tools; requests without tools (titles) consume none. */
export interface Turn {
  text?: string;
  tools?: ToolStep[];
  /** Tokens; `cached` is a part of `input`. */
  usage?: Partial<Tokens>;
  /** Answers with an error in the API's own words instead. */
  fail?: FailKind;
  /** Seconds until the reset that a `rate` or `quota` failure names; default 2. */
  resetSeconds?: number;
  /** `silent` never answers, `midway` stops after the first events: the connection stays open. `cut` closes it there. */
  stall?: 'silent' | 'midway' | 'cut';
  /** Is answered once this resolves: the request is in `requests`, and the agent waits. */
  hold?: Promise<unknown>;
  /** Says the same this many times; default 1. `Infinity` for a failure that stays. */
  times?: number;
}

/** What the model asks for, in the words of whichever tools the request offers. A relative path is below the agent's cwd. */
export type ToolStep =
  | { sh: string }
  | { write: string; content: string }
  | { read: string }
  /** Of an MCP server: the tool whose name ends so, whatever the CLI puts in front. */
  | { use: string; input: Record<string, unknown> }
  /** Of a CLI that shows its model such tools only when it looks for them. */
  | { find: string };
export type FailKind = 'auth' | 'rate' | 'quota' | 'overloaded' | 'overflow' | 'server' | 'billing' | 'model';
export interface Tokens {
  input: number;
  output: number;
  cached: number;
}

/** One request as it came; `turn` is the index of the answer, null for those that consumed none. */
export interface ModelRequest {
  script: string;
  api: keyof typeof WIRES | 'other';
  path: string;
  /** The last six characters of the key. */
  key: string;
  tools: string[];
  turn: number | null;
  body: string;
}

export interface DeclaredTool {
  name: string;
  /** JSON schema properties; none for a tool that takes free text. */
  properties: Record<string, unknown>;
  custom: boolean;
  /** Of a CLI that has a name for each server beside those of its tools. */
  namespace?: string;
}
export interface Call {
  name: string;
  input: Record<string, unknown> | string;
  namespace?: string;
}
export interface Answer {
  model: string;
  text: string;
  calls: Call[];
  usage: Tokens;
}
export interface WireError {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}
/** One vendor's wire format. `events` are server-sent events in order, a text as it is; `whole` is the same answer without streaming. */
export interface Wire {
  tools(body: Record<string, unknown>): DeclaredTool[];
  call(step: ToolStep, tools: DeclaredTool[], cwd: string): Call;
  events(answer: Answer): (Record<string, unknown> | string)[];
  whole(answer: Answer): unknown;
  failure(kind: FailKind, resetSeconds: number): WireError;
}

export interface ModelServer extends AsyncDisposable {
  /** Base URL of a script, default `main`, without `/v1`: `http://127.0.0.1:<port>/r/main`. */
  url(script?: string): string;
  readonly requests: ModelRequest[];
  /** Sets or restarts a script. */
  script(turns: Turn[], name?: string): void;
}

interface Cursor {
  turns: Turn[];
  next: number;
  said: number;
}

const WIRES = { anthropic, responses, chat, gemini } satisfies Record<string, Wire>;
const STALL_AFTER_EVENTS = 3;

/** A model of four vendors' APIs (Anthropic's Messages, OpenAI's Responses and chat completions, Gemini) on loopback that plays scripts, one turn per model call. */
export async function startModelServer(turns: Turn[] = []): Promise<ModelServer> {
  const scripts = new Map<string, Cursor>();
  const requests: ModelRequest[] = [];
  const set = (list: Turn[], name = 'main') => void scripts.set(name, { turns: list, next: 0, said: 0 });
  set(turns);

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { script, path } = route(request.url ?? '/');
    const api = apiOf(path);
    const parsed = parse(body);
    const wire = api === 'other' ? null : WIRES[api];
    const counting = /count_?tokens$/i.test(path);
    const tools = wire && !counting ? wire.tools(parsed) : [];
    const cursor = scripts.get(script);
    const turn = cursor && tools.length > 0 ? advance(cursor) : null;
    const names = tools.map((tool) => tool.name);
    requests.push({ script, api, path, key: keyOf(request), tools: names, turn: turn?.index ?? null, body });

    if (counting) return json(response, { status: 200, headers: {}, body: counted(body) });
    if (!wire) return json(response, { status: 404, headers: {}, body: { error: { message: 'not scripted' } } });
    const said: Turn = turn?.said ?? { text: tools.length ? 'Done (the script has ended).' : 'Scripted task' };
    await said.hold;
    if (said.fail) return json(response, wire.failure(said.fail, said.resetSeconds ?? 2));
    if (said.stall === 'silent') return;

    const cwd = cwdOf(body);
    const full: Answer = {
      model: modelOf(parsed, path),
      text: said.text ?? '',
      calls: (said.tools ?? []).map((step) => wire.call(step, tools, cwd)),
      usage: { input: Math.ceil(body.length / 4), output: 40, cached: 0, ...said.usage },
    };
    if (parsed['stream'] !== true && !path.endsWith(':streamGenerateContent'))
      return json(response, { status: 200, headers: {}, body: wire.whole(full) });
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    const events = wire.events(full);
    for (const event of said.stall ? events.slice(0, Math.min(STALL_AFTER_EVENTS, events.length - 1)) : events)
      response.write(framed(event));
    // Its end comes behind what was written, and is none that HTTP knows.
    if (said.stall === 'cut') response.write('', () => response.socket?.end());
    else if (!said.stall) response.end();
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (script = 'main') => `http://127.0.0.1:${port}/r/${script}`,
    requests,
    script: set,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function advance(cursor: Cursor): { index: number; said: Turn } | null {
  const said = cursor.turns[cursor.next];
  if (!said) return null;
  const index = cursor.next;
  cursor.said += 1;
  if (cursor.said >= (said.times ?? 1)) {
    cursor.next += 1;
    cursor.said = 0;
  }
  return { index, said };
}

function framed(event: Record<string, unknown> | string): string {
  if (typeof event === 'string') return `data: ${event}\n\n`;
  const name = typeof event['type'] === 'string' ? `event: ${event['type']}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}

const counted = (body: string) => {
  const tokens = Math.ceil(body.length / 4);
  return { input_tokens: tokens, totalTokens: tokens };
};

const modelOf = (body: Record<string, unknown>, path: string): string =>
  typeof body['model'] === 'string' ? body['model'] : (/models\/([^:/]+)/.exec(path)?.[1] ?? 'scripted');

function route(url: string): { script: string; path: string } {
  const [, script = 'main', path = '/'] = /^\/r\/([^/]+)(\/[^?]*)?/.exec(url) ?? [];
  return { script, path };
}

function apiOf(path: string): ModelRequest['api'] {
  if (path.includes('/v1/messages')) return 'anthropic';
  if (path.endsWith('/chat/completions')) return 'chat';
  if (/:(streamGenerateContent|generateContent|countTokens)$/.test(path)) return 'gemini';
  return path.endsWith('/responses') ? 'responses' : 'other';
}

/** Where the CLI says that it runs, in its prompt: `working directory: /x` (claude, opencode) or `<cwd>/x</cwd>` (codex). */
function cwdOf(body: string): string {
  return CWDS.flatMap((words) => [...body.matchAll(words)].at(-1)?.[1] ?? [])[0] ?? '.';
}
/** A conversation that goes on elsewhere names its old folder first. */
const CWDS = [
  /You are in a new worktree, (\S+?)\. /g,
  /working in the directory: ([^\s"\\]+)/g,
  /[Ww]orking directory: ([^\s"\\]+)/g,
  /<cwd>([^<]+)<\/cwd>/g,
];

function keyOf(request: IncomingMessage): string {
  const { authorization, 'x-api-key': anthropicKey, 'x-goog-api-key': googleKey } = request.headers;
  const key = authorization ?? anthropicKey ?? googleKey ?? '';
  return String(key).slice(-6);
}

function json(response: ServerResponse, { status, headers, body }: WireError): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function parse(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return {};
  }
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
