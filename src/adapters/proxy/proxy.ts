import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { runLayout, type HomeLayout } from '../../domain/names.ts';
import { readJson, writeJsonSync } from '../disk/json-file.ts';
import { forward, refuse } from './forward.ts';
import { EgressProxy } from './egress.ts';
import { PROTOCOL, type HoldInput, type Operations, type OpenInput } from './protocol.ts';
import { routeOf } from './routes.ts';
import { OpenRun } from './run.ts';

const ID = /^[A-Za-z0-9][\w.-]{0,99}$/;
const HEADERS_MS = 10_000;
/** At one time, of all agents: they need a few each, and what one opens must not use up the files of the process. */
const CONNECTIONS_MAX = 4_000;

type Handlers = {
  [Op in keyof Operations]: (
    asked: Operations[Op]['asks'],
  ) => Operations[Op]['answers'] | Promise<Operations[Op]['answers']>;
};

/** All open runs of one home, and the server on loopback that their agents talk to. */
export class ModelProxy {
  readonly server: Server;
  readonly #dispatcher: Dispatcher;
  readonly egress = new EgressProxy(
    (request, response) => void this.#answer(request, response),
    () => ({ host: '127.0.0.1', port: this.port }),
  );
  readonly #runs = new Map<string, OpenRun>();
  /** Files of runs that have a way out, and no model here: the process stays for them. */
  readonly #held = new Map<string, string>();
  readonly #changed: () => void;
  port = 0;

  /** `changed` is called when a run was closed. */
  constructor(dispatcher: Dispatcher, changed: () => void) {
    this.#dispatcher = dispatcher;
    this.#changed = changed;
    this.server = createServer(
      // A model may think, and an answer may come, for as long as the run's own limits allow.
      { requestTimeout: 0, headersTimeout: HEADERS_MS, keepAliveTimeout: 60_000, connectionsCheckingInterval: 2_000 },
      (request, response) => void this.#answer(request, response),
    );
    this.server.maxConnections = CONNECTIONS_MAX;
  }

  get size(): number {
    return this.#runs.size + this.#held.size;
  }

  readonly handlers: Handlers = {
    hello: () => ({ protocol: PROTOCOL, pid: process.pid, port: this.port }),
    open: async (order) => {
      if (!ID.test(order.id)) throw new Error(`${order.id} is no id of a run`);
      await this.#runs.get(order.id)?.close();
      writeJsonSync(order.file, order);
      this.#runs.set(order.id, new OpenRun(order, false));
      return {};
    },
    hold: ({ id, file }) => {
      writeJsonSync(file, { id, file });
      this.#held.set(id, file);
      return {};
    },
    close: async ({ id }) => {
      const run = this.#runs.get(id);
      if (run) await this.#close(run);
      this.#release(id);
      return {};
    },
    status: ({ id }) => this.#runs.get(id)?.live() ?? null,
  };

  /** Goes on with the runs that an earlier proxy had open. */
  async adopt(home: HomeLayout): Promise<void> {
    for (const file of ordersIn(home)) {
      const order = await readJson<OpenInput | HoldInput>(file).catch(() => undefined);
      if (order?.file !== file || !ID.test(order.id)) continue;
      if ('upstream' in order) this.#runs.set(order.id, new OpenRun(order, true));
      else this.#held.set(order.id, file);
    }
  }

  /** A run is over whose agent has ended, or whose folder is gone, whoever removed it: no worker may come back to say so. */
  sweep(): void {
    for (const run of this.#runs.values()) {
      const { file } = run.order;
      if (!existsSync(file) || hasEnded(file)) void this.#close(run);
    }
    for (const [id, file] of this.#held) if (!existsSync(file) || hasEnded(file)) this.#release(id);
  }

  #release(id: string): void {
    const file = this.#held.get(id);
    if (file === undefined) return;
    rmSync(file, { force: true });
    this.#held.delete(id);
    this.#changed();
  }

  async #close(run: OpenRun): Promise<void> {
    rmSync(run.order.file, { force: true });
    await run.close();
    if (this.#runs.get(run.order.id) === run) this.#runs.delete(run.order.id);
    this.#changed();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    const [, id = '', path = '', query = ''] = /^\/r\/([^/?#]+)(\/[^?#]*)(?:\?([^#]*))?$/.exec(request.url ?? '') ?? [];
    const run = this.#runs.get(id);
    if (!run || run.closed)
      return refuse(response, { status: 404, type: 'not_found_error', message: 'no such run is open here' });
    const search = new URLSearchParams(query);
    if (!admits(run, request, search))
      return refuse(response, {
        ...{ status: 401, type: 'authentication_error' },
        message: 'this is not the key of this run',
      });
    for (const name of ['key', 'access_token', 'oauth_token', '$userProject']) search.delete(name);
    const route = routeOf(run.order.upstream.api, request.method ?? '', path);
    if (!route)
      return refuse(response, {
        ...{ status: 404, type: 'not_found_error' },
        message: `${request.method} ${path.slice(0, 100)} is none of the paths that are passed on to the model`,
      });
    if (run.full)
      return refuse(response, { status: 429, type: 'rate_limit_error', message: 'too many requests at one time' });
    await forward(request, response, { run, route, path, query: search.toString(), dispatcher: this.#dispatcher });
  }
}

/** A reviewer's order lies in the same folder, and is used when the agent's own end is recorded. */
function hasEnded(file: string): boolean {
  const { wire, exit } = runLayout(dirname(file));
  return file === wire && existsSync(exit);
}

/** All keys that a request shows must be the run's, and there must be one. */
function admits(run: OpenRun, { headers }: IncomingMessage, search: URLSearchParams): boolean {
  const shown = [
    headers.authorization?.replace(/^Bearer +/i, ''),
    ...['x-api-key', 'x-goog-api-key', 'api-key'].map((name) => headers[name]?.toString()),
    ...search.getAll('key'),
  ].filter((key) => key !== undefined);
  return shown.length > 0 && shown.map((key) => run.takes(key)).every(Boolean);
}

/** `wire.json` of each run's folder, and of its reviewer. */
function ordersIn(home: HomeLayout): string[] {
  const list = (dir: string): string[] => {
    try {
      return readdirSync(dir);
    } catch {
      return [];
    }
  };
  return list(home.runs)
    .filter((task) => !task.startsWith('.'))
    .flatMap((task) =>
      list(`${home.runs}/${task}`).flatMap((runId) => {
        const { wire, reviewWire } = home.run(task, runId);
        return [wire, reviewWire].filter((file) => existsSync(file));
      }),
    );
}
