import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { Agent, request, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { connectProxy } from '../src/adapters/proxy/client.ts';
import { homeLayout } from '../src/domain/names.ts';
import { tempDir } from '../test/helpers/temp.ts';
import { median, rssMb, type Row } from './measure.ts';

/** What the model proxy adds: each call direct and through it in turn, so that both meet the same machine. */

const PAIRS = 200;
const STREAMS = 5;
const AT_ONCE = 100;

/** A conversation of some length, as each request tells it once more. */
const CONVERSATION = JSON.stringify({
  model: 'm',
  messages: Array.from({ length: 300 }, (_, n) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: `toolu_${n}`, content: 'x'.repeat(1_000) }],
  })),
});

interface Way {
  url: string;
  key: string;
}

export async function proxyFigures(): Promise<Row[]> {
  await using temp = await tempDir();
  const home = homeLayout(temp.path);
  const model = fork(fileURLToPath(new URL('model.ts', import.meta.url)), {
    execArgv: ['--import', createRequire(import.meta.url).resolve('tsx')],
  });
  const [port] = (await once(model, 'message')) as [number];
  const upstream = `http://127.0.0.1:${port}`;
  const client = connectProxy(home, {});
  const place = { id: '1-bench', file: home.run('bench', '1-bench').wire };
  mkdirSync(home.run('bench', '1-bench').dir, { recursive: true });
  const order = {
    ...place,
    wireFile: `${temp.path}/wire.jsonl`,
    upstream: { api: 'anthropic' as const, url: upstream, headers: {} },
  };
  const proxied = await client.open(order);
  const direct = { url: upstream, key: '' };
  const agent = new Agent({ keepAlive: true });
  const ask = (way: Way, what = '') => call(way, { query: what, agent });
  try {
    for (const way of [direct, proxied]) for (let i = 0; i < 20; i += 1) await ask(way);
    const pid = await client.pid();
    const idle = await rssMb(pid);
    const first = { direct: [] as number[], proxied: [] as number[] };
    for (let i = 0; i < PAIRS; i += 1) {
      first.direct.push((await ask(direct)).firstMs);
      first.proxied.push((await ask(proxied)).firstMs);
    }
    const rate = { direct: [] as number[], proxied: [] as number[] };
    for (let i = 0; i < STREAMS; i += 1) {
      rate.direct.push((await ask(direct, '?stream')).mbPerS);
      rate.proxied.push((await ask(proxied, '?stream')).mbPerS);
    }
    await Promise.all(Array.from({ length: AT_ONCE }, () => ask(proxied)));
    return [
      {
        what: 'model proxy: first byte of an answer, 320 KB asked, median',
        value: median(first.proxied),
        unit: 'ms',
        floor: median(first.direct),
      },
      { what: 'the same, added', value: median(first.proxied) - median(first.direct), unit: 'ms' },
      {
        what: 'model proxy: one stream of events',
        value: median(rate.proxied),
        unit: 'MB/s',
        floor: median(rate.direct),
      },
      { what: 'model proxy: RSS, fresh', value: idle, unit: 'MB' },
      { what: `model proxy: RSS, after ${AT_ONCE} requests at one time`, value: await rssMb(pid), unit: 'MB' },
    ];
  } finally {
    agent.destroy();
    await client.close(place);
    client.leave();
    model.disconnect();
    await once(model, 'exit');
  }
}

/** Milliseconds to the first byte, and the rate of the whole answer. */
function call(
  { url, key }: Way,
  { query, agent }: { query: string; agent: Agent },
): Promise<{ firstMs: number; mbPerS: number }> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': CONVERSATION.length };
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const asked = request(
      `${url}/v1/messages${query}`,
      { method: 'POST', headers, agent },
      (response: IncomingMessage) => {
        let bytes = 0;
        let firstMs = 0;
        response.on('data', (piece: Buffer) => {
          firstMs ||= performance.now() - start;
          bytes += piece.length;
        });
        response.on('error', reject).on('end', () => {
          resolve({ firstMs, mbPerS: bytes / 1e6 / ((performance.now() - start) / 1_000) });
        });
      },
    );
    asked.on('error', reject).end(CONVERSATION);
  });
}
