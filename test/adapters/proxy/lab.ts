import { existsSync, mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connectProxy, type ProxyClient } from '../../../src/adapters/proxy/client.ts';
import { readWire } from '../../../src/adapters/proxy/wire-file.ts';
import { homeLayout, type HomeLayout } from '../../../src/domain/names.ts';
import type { Upstream } from '../../../src/domain/agent/upstream.ts';
import { tempDir } from '../../helpers/temp.ts';
import { until } from '../../helpers/until.ts';

/** A home with a proxy, and a model's server that answers as it is told. */
export interface Lab extends AsyncDisposable {
  home: HomeLayout;
  proxy: ProxyClient;
  upstream: Upstream;
  /** What reached the model's server. */
  seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  answerWith(answer: (request: IncomingMessage, response: ServerResponse) => void): void;
  /** Another worker of the same home. */
  client(env?: NodeJS.ProcessEnv): ProxyClient;
  open(runId?: string, upstream?: Partial<Upstream>): Promise<Opened>;
}

export interface Opened {
  url: string;
  key: string;
  place: { id: string; file: string };
  wire(): ReturnType<typeof readWire>;
  /** Asks the model, as an agent would. */
  ask(options?: { key?: string; path?: string; body?: string; signal?: AbortSignal }): Promise<Response>;
}

export const REAL_KEY = 'sk-real-0123456789';
const BODY = JSON.stringify({ model: 'm', messages: [] });

export async function lab(env: NodeJS.ProcessEnv = {}): Promise<Lab> {
  const temp = await tempDir();
  const home = homeLayout(temp.path);
  const seen: Lab['seen'] = [];
  let answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end('{}');
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const { method = '', url = '', headers } = request;
        seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
        answer(request, response);
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const upstream: Upstream = { api: 'anthropic', url, headers: { 'x-api-key': REAL_KEY } };
  const clients: ProxyClient[] = [];
  const places: Opened['place'][] = [];
  const client = (more: NodeJS.ProcessEnv = env) => {
    clients.push(connectProxy(home, more));
    return clients.at(-1)!;
  };
  const proxy = client();
  return {
    ...{ home, proxy, upstream, seen, client },
    answerWith: (next) => (answer = next),
    async open(runId = '1-abc', more = {}) {
      const { dir, wire: file } = home.run('task', runId);
      const wireFile = `${home.task('task').dir}/${runId}/wire.jsonl`;
      mkdirSync(dir, { recursive: true });
      const place = { id: runId, file };
      places.push(place);
      const opened = await proxy.open({ ...place, wireFile, upstream: { ...upstream, ...more } });
      return {
        ...opened,
        place,
        wire: () => readWire(wireFile),
        ask: ({ key = opened.key, path = '/v1/messages', body = BODY, signal } = {}) =>
          fetch(opened.url + path, {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'x-api-key': key },
            body,
            ...(signal ? { signal } : {}),
          }),
      };
    },
    async [Symbol.asyncDispose]() {
      const last = connectProxy(home, env);
      for (const place of places) await last.close(place);
      for (const each of [...clients, last]) each.leave();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await until(() => gone(home));
      await temp[Symbol.asyncDispose]();
    },
  };
}

/** It has left. A question by its socket would keep it. */
export const gone = (home: HomeLayout): boolean => !existsSync(home.proxySocket);
