import { label, object, objects, text, type Json } from '../domain/values/json.ts';
import { failureOf, resetIn } from '../coders/streams/codex.ts';
import type { CoderFailure } from '../domain/agent/event.ts';
import { CodexItems } from './codex-items.ts';
import type { Conversation, Talk } from './conversation.ts';
import { failureOfStatus } from '../coders/shared/failures.ts';
import type { End } from './printer.ts';
import { Rpc, RpcError } from './rpc.ts';

const START_MS = 60_000;

/** One turn of Codex by `codex app-server`, as seen on 0.169.0; its protocol: `codex app-server generate-ts`. */
export function codex({ order, prompt, child, out }: Talk): Conversation {
  const items = new CodexItems(out);
  let thread = '';
  let turn = '';
  let limits: Json = {};
  let failed: Json | undefined;
  let ended: (turn: Json) => void;
  const turnEnded = new Promise<Json>((resolve) => (ended = resolve));

  function notification(method: string, params: Json): void {
    // A sub-agent's thread is not this conversation.
    const own = !params['threadId'] || params['threadId'] === thread;
    const item = object(params['item']) ?? {};
    switch (method) {
      case 'account/rateLimits/updated':
        limits = { ...limits, ...object(params['rateLimits']) };
        return;
      case 'warning':
        return own ? out.text(`Warning: ${text(params['message'])}`) : undefined;
      case 'item/started':
        return items.started(item);
      case 'item/completed':
        return own || item['type'] !== 'agentMessage' ? items.completed(item) : undefined;
      case 'rawResponseItem/completed':
        return own ? items.raw(item) : undefined;
      case 'thread/tokenUsage/updated':
        // What a resumed thread repeats is an earlier turn's.
        return own && params['turnId'] === turn ? items.used(object(params['tokenUsage']) ?? {}) : undefined;
      case 'turn/started':
        if (own) turn = label(object(params['turn'])?.['id']);
        return;
      case 'error':
        if (own && params['willRetry'] !== true) failed = object(params['error']) ?? {};
        return out.busy();
      case 'turn/completed':
        return own ? ended(object(params['turn']) ?? {}) : undefined;
      default:
        if (method.startsWith('item/')) out.busy();
    }
  }

  async function talk(): Promise<End> {
    const rpc = new Rpc(child, { notification, request: answer });
    await rpc.ask(
      'initialize',
      {
        clientInfo: { name: 'infinity-fleet', title: 'Infinity Fleet', version: '1' },
        capabilities: { experimentalApi: true },
      },
      START_MS,
    );
    rpc.tell('initialized');
    // A folder named at the start of a thread would be trusted, and its `.codex/config.toml` with it, so that servers and hooks
    // of the repository were started (tried). One that goes on would do so in its old folder.
    const setup = {
      ...(order.model ? { model: order.model } : {}),
      // Calls that it refuses are in no item: the model's own words tell of them.
      experimentalRawEvents: true,
      ...(await providerOf(rpc)),
    };
    const opened = order.resume
      ? await rpc.ask('thread/resume', { ...setup, cwd: order.cwd, threadId: order.resume }, START_MS)
      : await rpc.ask('thread/start', setup, START_MS);
    thread = label(object(opened['thread'])?.['id']);
    out.print({ type: 'started', session: thread, model: label(opened['model']) });
    const input = [{ type: 'text', text: prompt, text_elements: [] }];
    const begun = await rpc.ask('turn/start', { threadId: thread, input }, START_MS);
    turn = label(object(begun['turn'])?.['id']);
    interrupt = () => void rpc.ask('turn/interrupt', { threadId: thread, turnId: turn }).catch(() => undefined);
    const { status, error } = await turnEnded;
    out.endMessage();
    if (status === 'completed') return { ok: true, text: out.said };
    if (status === 'interrupted') return { ok: false, failure: 'agent-error', text: `Interrupted. ${out.said}`.trim() };
    return endOf(object(error) ?? failed ?? {});
  }
  let interrupt = (): void => undefined;

  /** Nothing asks where the policy is never to ask; what asks all the same may, as the namespace is the boundary. */
  function answer(method: string, params: Json): Json {
    switch (method) {
      case 'item/commandExecution/requestApproval':
      case 'item/fileChange/requestApproval':
        return { result: { decision: 'acceptForSession' } };
      case 'execCommandApproval':
      case 'applyPatchApproval':
        return { result: { decision: 'approved_for_session' } };
      case 'item/permissions/requestApproval':
        return { result: { permissions: object(params['permissions']) ?? {}, scope: 'session' } };
      case 'item/tool/requestUserInput': {
        const questions = objects(params['questions']).map((each) => text(each['question']));
        out.print({ type: 'waiting', what: `an answer to: ${questions.join(' ')}` });
        return { result: { answers: {} } };
      }
      case 'mcpServer/elicitation/request':
        out.print({ type: 'waiting', what: `an answer to ${label(params['serverName'])}: ${text(params['message'])}` });
        return { result: { action: 'decline', content: null, _meta: null } };
      default:
        return { error: { code: -32_601, message: `no ${method} here` } };
    }
  }

  function endOf(error: Json): End {
    const message = text(error['message']);
    // An account without credit is called a used up limit, which no waiting mends.
    const said = failureOf(message);
    const failure = said === 'auth' ? said : (classOf(error['codexErrorInfo']) ?? said);
    const until = failure === 'rate-limited' ? (resetOf(limits) ?? resetIn(message, new Date())) : undefined;
    return { ok: false, failure, text: message, until };
  }

  return {
    talk: () =>
      talk().catch((error: unknown): End => {
        const said = error instanceof RpcError ? { message: error.message, ...error.data } : { message: String(error) };
        return endOf(said);
      }),
    cancel: () => interrupt(),
  };
}

/** The app-server does not read CODEX_API_KEY, other than `codex exec`, and would write a login with it to the user's own file. */
async function providerOf(rpc: Rpc): Promise<Json> {
  if (!process.env['CODEX_API_KEY']) return {};
  const { requiresOpenaiAuth } = await rpc.ask('account/read', { refreshToken: false }, START_MS);
  if (requiresOpenaiAuth !== true) return {};
  const provider = {
    name: 'OpenAI',
    base_url: `${(process.env['OPENAI_BASE_URL'] || 'https://api.openai.com').replace(/\/v1\/?$/, '')}/v1`,
    wire_api: 'responses',
    env_key: 'CODEX_API_KEY',
    request_max_retries: 1,
    stream_max_retries: 1,
  };
  return { modelProvider: 'openai-key', config: { 'model_providers.openai-key': provider } };
}

const CLASSES: Record<string, CoderFailure> = {
  contextWindowExceeded: 'context-overflow',
  sessionBudgetExceeded: 'over-budget',
  usageLimitExceeded: 'rate-limited',
  rateLimitExceeded: 'rate-limited',
  serverOverloaded: 'overloaded',
  flexUnavailable: 'overloaded',
  policyCapacityUnavailable: 'overloaded',
  internalServerError: 'overloaded',
  unauthorized: 'auth',
};
const CUT_OFF = ['httpConnectionFailed', 'responseStreamConnectionFailed', 'responseStreamDisconnected'];

/** The class of a `codexErrorInfo`: a name, or one with the HTTP status. Undefined: the message has to tell. */
function classOf(info: unknown): CoderFailure | undefined {
  if (typeof info === 'string') return Object.hasOwn(CLASSES, info) ? CLASSES[info] : undefined;
  const [kind, details] = Object.entries(object(info) ?? {})[0] ?? [];
  if (!kind) return undefined;
  const status = object(details)?.['httpStatusCode'];
  return failureOfStatus(status) ?? (status === null && CUT_OFF.includes(kind) ? 'overloaded' : undefined);
}

/** When the last of the windows that are used up is over. */
function resetOf(limits: Json): string | undefined {
  const windows = [object(limits['primary']), object(limits['secondary'])].filter((each) => each !== undefined);
  const full = windows.filter((each) => Number(each['usedPercent']) >= 100);
  const seconds = Math.max(...full.map((each) => Number(each['resetsAt']) || 0));
  return seconds > 0 && Number.isFinite(seconds) ? new Date(seconds * 1_000).toISOString() : undefined;
}
