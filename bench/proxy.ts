import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent, createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homeLayout } from '../src/domain/names.ts';
import { tempDir } from '../test/helpers/temp.ts';

/** What the model proxy adds: each call direct and through it in turn, so that both meet the same machine. */

const PAIRS = 200;
const STREAMS = 5;
const STREAM_BYTES = 32 * 1024 * 1024;
const AT_ONCE = 100;

const EVENT = `event: content_block_delta\ndata: ${JSON.stringify({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'some forty characters of an answer, or so' },
})}\n\n`;
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

interface Figure {
  what: string;
  value: number;
  unit: string;
  floor?: number;
}

export async function proxyFigures(): Promise<Figure[]> {
  await using temp = await tempDir();
  const home = homeLayout(temp.path);
  const built = new URL('../dist/adapters/proxy/client.js', import.meta.url).href;
  const { connectProxy } = (await import(built)) as typeof import('../src/adapters/proxy/client.ts');
  const block = EVENT.repeat(400);
  const server = createServer((asked, response) => {
    asked.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const blocks = asked.url?.includes('stream') ? Math.ceil(STREAM_BYTES / block.length) : 0;
      let left = blocks;
      const more = () => {
        while (left > 0) {
          left -= 1;
          if (!response.write(block)) return void response.once('drain', more);
        }
        response.end(EVENT);
      };
      more();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
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

async function rssMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
