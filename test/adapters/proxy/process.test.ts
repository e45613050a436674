import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { expect, test } from '@jest/globals';
import { until } from '../../helpers/until.ts';
import { BODIES } from './bodies.ts';
import { gone, lab, REAL_KEY } from './lab.ts';

const text = (response: Response) => response.text();

test('a request goes on with the real key and nothing of the agent’s, and its answer comes back', async () => {
  await using l = await lab();
  const run = await l.open();
  l.answerWith((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_1', 'set-cookie': 'a=b' });
    response.end(JSON.stringify(BODIES[0]!.plain));
  });
  const response = await fetch(`${run.url}/v1/messages?beta=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${run.key}`, 'anthropic-beta': 'x', cookie: 'c=d', 'accept-encoding': 'gzip' },
    body: JSON.stringify(BODIES[0]!.request),
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual(BODIES[0]!.plain);
  expect(response.headers.get('request-id')).toBe('req_1');
  expect(response.headers.get('set-cookie')).toBeNull();
  const [seen] = l.seen;
  expect(seen).toMatchObject({
    method: 'POST',
    url: '/v1/messages?beta=true',
    body: JSON.stringify(BODIES[0]!.request),
  });
  expect(seen!.headers).toMatchObject({ 'x-api-key': REAL_KEY, 'anthropic-beta': 'x', 'accept-encoding': 'identity' });
  expect(seen!.headers).not.toHaveProperty('authorization');
  expect(seen!.headers).not.toHaveProperty('cookie');
  expect(JSON.stringify(seen)).not.toContain(run.key);
  await l.proxy.close(run.place);
  expect(run.wire()).toMatchObject({
    unseen: null,
    whole: true,
    exchanges: [{ status: 200, usage: BODIES[0]!.usage }],
  });
});

test('each piece comes at once, before the next is there', async () => {
  await using l = await lab();
  const run = await l.open();
  let more!: (piece: string) => void;
  let end!: () => void;
  l.answerWith((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    more = (piece) => response.write(piece);
    end = () => response.end();
  });
  const response = await run.ask();
  const reader = response.body!.getReader();
  for (const piece of ['data: {"a":1}\n', '\nda', 'ta: {}\n\n']) {
    more(piece);
    const { value } = await reader.read();
    expect(Buffer.from(value!).toString()).toBe(piece);
  }
  expect(await l.proxy.status(run.place)).toMatchObject({ open: 1 });
  end();
  expect((await reader.read()).done).toBe(true);
  expect(await l.proxy.status(run.place)).toMatchObject({ open: 0, sum: { exchanges: 1 } });
});

test('a redirect is not followed, nor told', async () => {
  await using l = await lab();
  const run = await l.open();
  l.answerWith((_, response) => response.writeHead(307, { location: 'http://127.0.0.1:9/x' }).end());
  const response = await run.ask();
  expect([response.status, response.headers.get('location')]).toEqual([502, null]);
});

test('a server that cannot be reached is told in one sentence, and counts as overloaded', async () => {
  await using l = await lab();
  const run = await l.open('1-abc', { url: 'http://127.0.0.1:9' });
  const response = await run.ask();
  expect(response.status).toBe(502);
  expect(await text(response)).toMatch(/the model's server cannot be reached: connect ECONNREFUSED/);
  await l.proxy.close(run.place);
  expect(run.wire()!.exchanges).toMatchObject([{ status: null, error: { failure: 'overloaded' } }]);
});

test('a long wait is the worker’s affair, a short one the CLI’s', async () => {
  await using l = await lab();
  const run = await l.open();
  let wait = '3600';
  l.answerWith((_, response) => response.writeHead(429, { 'retry-after': wait }).end('{}'));
  expect((await run.ask()).headers.get('retry-after')).toBeNull();
  wait = '7';
  expect((await run.ask()).headers.get('retry-after')).toBe('7');
  const { sum } = (await l.proxy.status(run.place))!;
  expect(sum.failed).toMatchObject({ failure: 'rate-limited' });
  expect(Math.abs(Date.parse(sum.failed!.until!) - Date.now() - 7_000)).toBeLessThan(2_000);
});

test('kill -9 of the proxy: the next one has the same port, the same keys and what was counted', async () => {
  await using l = await lab();
  const run = await l.open();
  l.answerWith((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(BODIES[0]!.plain));
  });
  await text(await run.ask());
  expect(statSync(run.place.file).mode & 0o777).toBe(0o600);
  const pid = await l.proxy.pid();
  process.kill(pid, 'SIGKILL');
  // By nobody's question: agents wait.
  const answer = await until(() => run.ask().then(text, () => ''));
  expect(JSON.parse(answer)).toEqual(BODIES[0]!.plain);
  expect(await l.proxy.pid()).not.toBe(pid);
  expect(await l.proxy.status(run.place)).toMatchObject({ sum: { exchanges: 2, usage: { inputTokens: 200 } } });
  expect(run.wire()).toMatchObject({ whole: false });
});

test('without its worker it stays for its run, then goes; the next worker finds it', async () => {
  await using l = await lab();
  const run = await l.open();
  const pid = await l.proxy.pid();
  l.proxy.leave();
  expect((await run.ask()).status).toBe(200);
  const next = l.client();
  expect(await next.status(run.place)).toMatchObject({ sum: { exchanges: 1 } });
  expect(await next.pid()).toBe(pid);
  next.leave();
  // Whoever removes a run's folder has ended it.
  rmSync(run.place.file);
  await until(() => gone(l.home), { timeoutMs: 15_000 });
  await expect(run.ask()).rejects.toThrow();
});

test('closing forgets the key, ends what is under way, and starts nothing', async () => {
  await using l = await lab();
  const run = await l.open();
  l.answerWith((_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n'));
  const response = await run.ask();
  expect(readFileSync(run.place.file, 'utf8')).toContain(REAL_KEY);
  expect(readFileSync(run.place.file, 'utf8')).not.toContain(run.key);
  await l.proxy.close(run.place);
  await expect(text(response)).rejects.toThrow();
  expect(existsSync(run.place.file)).toBe(false);
  expect(run.wire()!.exchanges).toMatchObject([{ cut: true }]);
  l.proxy.leave();
  await until(() => gone(l.home));
  const other = l.client();
  await other.close(run.place);
  expect(gone(l.home)).toBe(true);
});

test('an agent that goes away ends its request at the model', async () => {
  await using l = await lab();
  const run = await l.open();
  let ended = false;
  l.answerWith((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n');
    response.on('close', () => (ended = true));
  });
  const abort = new AbortController();
  await run.ask({ signal: abort.signal });
  abort.abort();
  await until(() => ended);
  await until(async () => (await l.proxy.status(run.place))?.open === 0);
});

test('a request that is not complete is no model that is waited for', async () => {
  await using l = await lab();
  const run = await l.open();
  l.answerWith(() => undefined);
  const { hostname, port, pathname } = new URL(run.url);
  const half = connect(Number(port), hostname);
  half.on('error', () => undefined);
  const head = [`POST ${pathname}/v1/messages HTTP/1.1`, 'host: x', `x-api-key: ${run.key}`, 'content-length: 100'];
  half.write(`${head.join('\r\n')}\r\n\r\n{`);
  // A whole one behind it.
  const abort = new AbortController();
  const whole = run.ask({ signal: abort.signal }).catch(() => undefined);
  await until(async () => (await l.proxy.status(run.place))!.open > 0);
  expect(await l.proxy.status(run.place)).toMatchObject({ open: 1 });
  half.write('x'.repeat(99));
  await until(async () => (await l.proxy.status(run.place))!.open === 2);
  half.destroy();
  abort.abort();
  await whole;
});

test('a run whose agent has ended is closed, and its key forgotten, whoever is there to say so', async () => {
  await using l = await lab();
  const run = await l.open();
  writeFileSync(l.home.run('task', run.place.id).exit, '{}');
  await until(() => !existsSync(run.place.file), { timeoutMs: 20_000 });
  expect((await run.ask()).status).toBe(404);
});

const listening = (port: number) =>
  new Promise<Server | undefined>((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined)).listen(port, '127.0.0.1', () => resolve(server));
  });

test('a port that somebody else has taken meanwhile is given up', async () => {
  await using l = await lab();
  const run = await l.open();
  const port = Number(new URL(run.url).port);
  await l.proxy.close(run.place);
  l.proxy.leave();
  await until(() => gone(l.home));
  // Its socket goes a moment before its port.
  const taken = await until(() => listening(port));
  const next = l.client();
  const file = `${l.home.task('task').dir}/wire.jsonl`;
  const opened = await next.open({ ...run.place, wireFile: file, upstream: l.upstream });
  expect(Number(new URL(opened.url).port)).not.toBe(port);
  await new Promise((resolve) => taken.close(resolve));
});

test('100 streams at one time', async () => {
  await using l = await lab();
  const runs = await Promise.all(Array.from({ length: 4 }, (_, n) => l.open(`${n}-abc`)));
  const body = BODIES[0]!.streamed;
  l.answerWith((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let at = 0;
    const timer = setInterval(() => {
      response.write(body.slice(at, at + 100));
      at += 100;
      if (at < body.length) return;
      clearInterval(timer);
      response.end();
    }, 2);
  });
  const answers = await Promise.all(
    Array.from({ length: 100 }, async (_, n) =>
      text(await runs[n % 4]!.ask({ body: JSON.stringify(BODIES[0]!.request) })),
    ),
  );
  expect(new Set(answers)).toEqual(new Set([body]));
  for (const run of runs) {
    await l.proxy.close(run.place);
    expect(run.wire()!.exchanges).toHaveLength(25);
    expect(run.wire()!.exchanges.every(({ calls }) => calls.length === 2)).toBe(true);
    expect(run.wire()!.exchanges.flatMap(({ results }) => results)).toHaveLength(2);
  }
});
