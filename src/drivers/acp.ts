import {
  client,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type AnyMessage,
  type ClientContext,
} from '@agentclientprotocol/sdk';
import { label, object, objects, shown, text, type Json } from '../domain/values/json.ts';
import type { CoderFailure } from '../domain/agent/event.ts';
import { idOf, loginMethod, unattendedMode } from './acp-setup.ts';
import { AcpUpdates, usageOf } from './acp-updates.ts';
import type { Conversation, Talk } from './conversation.ts';
import { failureIn, failureOfStatus } from '../coders/shared/failures.ts';
import type { End } from './printer.ts';

/** An agent that is slow to start, beside ten others on the same machine. */
const START_MS = 120_000;

/** An agent that prints no more and does not end. */
const SILENT_MS = 3_000;

/** One prompt to an agent that speaks the Agent Client Protocol, version 1. */
export function acp({ order, prompt, child, out }: Talk): Conversation {
  const updates = new AcpUpdates(out);
  const mcpServers = order.mcp ? [{ name: 'fleet', ...order.mcp, env: [] }] : [];
  let agent: ClientContext | undefined;
  /** Ids of the logins that the agent offers, where it took none of them. */
  let unused: string[] = [];
  let session = '';
  /** What a loaded session repeats of its past is not this run's. */
  let prompted = false;
  let cancelled = false;

  const app = client({ name: 'infinity-fleet' })
    .onNotification(methods.client.session.update, raw, ({ params }) => {
      if (prompted && params['sessionId'] === session) updates.take(object(params['update']) ?? {});
    })
    .onRequest(methods.client.session.requestPermission, raw, ({ params }) => {
      const call = object(params['toolCall']) ?? {};
      updates.tool(call, true);
      const option = allowing(objects(params['options']));
      if (cancelled) return { outcome: { outcome: 'cancelled' } };
      if (option) return { outcome: { outcome: 'selected', optionId: option } };
      out.print({ type: 'waiting', what: `an answer to: ${label(call['title']) || 'a question of the agent'}` });
      return { outcome: { outcome: 'cancelled' } };
    })
    .onRequest(methods.client.elicitation.create, raw, ({ params }) => {
      out.print({ type: 'waiting', what: `an answer to: ${shown(params['message'])}` });
      return { action: 'cancel' };
    });

  async function talk(): Promise<End> {
    const connection = app.connect(streamOf());
    agent = connection.agent;
    const ask: Ask = async (method, params, limitMs) =>
      object(await within(agent!.request<unknown, Json>(method, params), method, limitMs)) ?? {};
    const initialized = await ask(
      'initialize',
      {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        clientInfo: { name: 'infinity-fleet', version: '1' },
      },
      START_MS,
    );
    await logIn(objects(initialized['authMethods']), ask);
    const capabilities = object(initialized['agentCapabilities']);
    const setup = { cwd: order.cwd, mcpServers };
    const opened = order.resume
      ? await load(ask, order.resume, capabilities?.['loadSession'] === true)
      : await ask('session/new', setup, START_MS);
    session = order.resume ?? label(opened['sessionId']);
    const before = updates.costUsd;
    out.print({ type: 'started', session, ...(order.model ? { model: order.model } : {}) });
    await freeMode(opened, ask);
    if (order.model) await choose(order.model, opened, ask);
    prompted = true;
    const response = await ask('session/prompt', { sessionId: session, prompt: [{ type: 'text', text: prompt }] });
    const usage = usageOf(response);
    // The cost is the session's: where nothing told it before, this run's part of it is not known.
    const costUsd = order.resume && !before ? 0 : updates.costUsd - before;
    const costs = costUsd > 0 ? { costUsd } : {};
    if (usage || costUsd > 0) out.print({ ...(usage ?? { type: 'usage', input: 0, output: 0, cached: 0 }), ...costs });
    return endOf(text(response['stopReason']));
  }

  async function logIn(offered: readonly Json[], ask: Ask) {
    const method = loginMethod(offered, order.auth, process.env);
    if (method === undefined) return void (unused = offered.map(idOf));
    await ask('authenticate', { methodId: method }, START_MS).catch((error: unknown) => {
      const said = `the login ${method} was refused: ${messageOf(error)}`;
      if (order.auth) throw new Refused(said, 'auth');
      out.text(`Warning: ${said}`);
      unused = offered.map(idOf);
    });
  }

  async function freeMode(opened: Json, ask: Ask) {
    const change = unattendedMode(opened, order.mode);
    if (!change) return;
    const { mode, configId } = change;
    const asked = configId
      ? ask('session/set_config_option', { sessionId: session, configId, value: mode }, START_MS)
      : ask('session/set_mode', { sessionId: session, modeId: mode }, START_MS);
    await asked.catch((error: unknown) => {
      const said = `the mode ${mode} was refused: ${messageOf(error)}`;
      if (order.mode) throw new Refused(said);
      out.text(`Warning: ${said}`);
    });
  }

  /** The prompt is for a conversation that goes on: a new one could do nothing with it. */
  async function load(ask: Ask, sessionId: string, capable: boolean): Promise<Json> {
    if (!capable) throw new Refused('this agent cannot go on with a session');
    session = sessionId;
    return ask('session/load', { cwd: order.cwd, mcpServers, sessionId }, START_MS).catch((error: unknown) => {
      throw new Refused(`the session ${sessionId} could not be loaded: ${messageOf(error)}`);
    });
  }

  /** By the session's option of that kind, or by the method that came before those. */
  async function choose(model: string, opened: Json, ask: Ask) {
    const option = objects(opened['configOptions']).find((each) => each['category'] === 'model');
    try {
      if (option) {
        await ask('session/set_config_option', { sessionId: session, configId: option['id'], value: model });
      } else if (opened['models']) await ask('session/set_model', { sessionId: session, modelId: model });
      else out.text(`Warning: this agent has no way to choose the model ${model}`);
    } catch (error) {
      throw new Refused(`the model ${model} was refused: ${messageOf(error)}`);
    }
  }

  const endOf = (reason: string): End => {
    out.endMessage();
    if (reason === 'end_turn') return { ok: true, text: out.said };
    const failure: CoderFailure = reason === 'max_turn_requests' ? 'over-budget' : 'agent-error';
    return { ok: false, failure, text: `The agent stopped: ${reason || 'no reason'}. ${out.said}` };
  };

  /** The SDK's stream, over lines that are messages only. */
  function streamOf() {
    const readable = new ReadableStream<AnyMessage>({
      start(controller) {
        void child
          .listen((message) => controller.enqueue(message as AnyMessage))
          // Why it stopped is seen from how it ends, where it does.
          .then(() => setTimeout(() => controller.close(), SILENT_MS));
      },
    });
    return { readable, writable: new WritableStream<AnyMessage>({ write: (message) => child.send(message) }) };
  }

  return {
    talk: () =>
      talk().catch((error: unknown): End => {
        const { failure, text: said } = failureOf(error);
        const hint =
          failure === 'auth' && unused.length > 0
            ? `; it offers ${unused.join(', ')}: name one as auth of this coder in config.yaml, and the variable of its key in env`
            : '';
        return { ok: false, failure, text: said + hint };
      }),
    cancel: () => {
      cancelled = true;
      if (session) agent?.notify('session/cancel', { sessionId: session }).catch(() => undefined);
    },
  };
}

type Ask = (method: string, params: Json, limitMs?: number) => Promise<Json>;

class Refused extends Error {
  readonly failure: CoderFailure;
  constructor(message: string, failure: CoderFailure = 'agent-error') {
    super(message);
    this.failure = failure;
  }
}

const raw = (params: unknown): Json => object(params) ?? {};
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 500);

/** The namespace is the boundary: what it allows is allowed, for good where the agent offers it. */
function allowing(options: readonly Json[]): string | undefined {
  const of = (kind: string) => options.find((option) => option['kind'] === kind);
  return text((of('allow_always') ?? of('allow_once'))?.['optionId']) || undefined;
}

async function within<T>(asked: Promise<T>, what: string, ms?: number): Promise<T> {
  if (ms === undefined) return asked;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the agent did not answer ${what} in ${ms / 1_000} s`)), ms);
  });
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
}

const KINDS: Record<string, CoderFailure> = {
  rate_limit: 'rate-limited',
  usageLimitExceeded: 'rate-limited',
  rateLimitExceeded: 'rate-limited',
  authentication_failed: 'auth',
  billing_error: 'auth',
  unauthorized: 'auth',
  overloaded: 'overloaded',
  server_error: 'overloaded',
  serverOverloaded: 'overloaded',
  internalServerError: 'overloaded',
  prompt_too_long: 'context-overflow',
  contextWindowExceeded: 'context-overflow',
};

/** `-32000` asks to authenticate; for the rest the agent's own data, then its words. */
function failureOf(error: unknown): { text: string; failure: CoderFailure } {
  const message = messageOf(error);
  if (error instanceof Refused) return { text: message, failure: error.failure };
  if (!(error instanceof RequestError)) return { text: message, failure: 'agent-error' };
  const data = object(error.data) ?? {};
  const details = [message, text(error.data), text(data['message']), text(data['details'])].filter(Boolean).join(': ');
  if (error.code === -32_000) return { text: details, failure: 'auth' };
  const kind = text(data['errorKind']) || text(data['codexErrorInfo']);
  const failure =
    (Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined) ??
    failureOfStatus(data['status'] ?? data['statusCode'] ?? error.code);
  return { text: details, failure: failure ?? failureIn(details) };
}
