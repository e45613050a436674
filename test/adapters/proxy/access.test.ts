import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { lab } from './lab.ts';

/** What the proxy refuses. */

test('another run’s key, none, a wrong one, and every key of a run that has ended are refused at once', async () => {
  await using l = await lab();
  const [one, two] = [await l.open('1-aaa'), await l.open('2-bbb')];
  const status = async (headers: Record<string, string>, query = '') =>
    (await fetch(`${one.url}/v1/messages${query}`, { method: 'POST', headers, body: '{}' })).status;
  expect(await status({ 'x-api-key': one.key })).toBe(200);
  expect(await status({}, `?key=${one.key}`)).toBe(200);
  expect(l.seen.at(-1)!.url).toBe('/v1/messages');
  for (const headers of [{}, { 'x-api-key': two.key }, { authorization: 'Bearer x' }, { 'x-api-key': '' }])
    expect(await status(headers as Record<string, string>)).toBe(401);
  expect(await status({ 'x-api-key': one.key, authorization: `Bearer ${two.key}` })).toBe(401);
  expect(await status({ 'x-api-key': one.key }, `?key=x`)).toBe(401);
  expect(await (await one.ask({ key: 'x' })).json()).toMatchObject({
    error: { type: 'authentication_error', message: 'fleet: this is not the key of this run' },
  });
  await l.proxy.close(one.place);
  expect((await one.ask()).status).toBe(404);
  expect((await two.ask()).status).toBe(200);
  expect(l.seen).toHaveLength(3);
  const again = await l.open('2-bbb');
  expect((await two.ask()).status).toBe(401);
  expect((await again.ask()).status).toBe(200);
});

test.each([
  ['GET', '/v1/messages'],
  ['POST', '/v1/messages/../files'],
  ['POST', '/v1//messages'],
  ['POST', '/v1/%2e%2e/messages'],
  ['POST', '/v1/files'],
  ['POST', '/v1/messages/batches'],
  ['DELETE', '/v1/models/x'],
  ['GET', '/'],
  ['POST', '/v1/chat/completions'],
])('%s %s is none of the API’s own paths', async (method, path) => {
  await using l = await lab();
  const run = await l.open();
  const { hostname, port, pathname } = new URL(run.url);
  const raw = `${method} ${pathname}${path} HTTP/1.1\r\nHost: ${hostname}\r\nx-api-key: ${run.key}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
  expect(await rawAnswer(Number(port), raw)).toMatch(/^HTTP\/1.1 404 /);
  expect(l.seen).toEqual([]);
});

test('it is no open proxy, and two requests in one stay one', async () => {
  await using l = await lab();
  const run = await l.open();
  const { port, pathname } = new URL(run.url);
  const other = new URL(l.upstream.url).host;
  const ask = (raw: string) => rawAnswer(Number(port), raw);
  expect(await ask(`GET http://${other}/v1/models HTTP/1.1\r\nHost: ${other}\r\nConnection: close\r\n\r\n`)).toMatch(
    / 404 /,
  );
  expect(await ask(`CONNECT ${other} HTTP/1.1\r\nHost: ${other}\r\n\r\n`)).not.toMatch(/ 200 /);
  const both = `POST ${pathname}/v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: ${run.key}\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
  expect(await ask(both)).toMatch(/ 400 /);
  expect(l.seen).toEqual([]);
  const upgrade = `GET ${pathname}/v1/models HTTP/1.1\r\nHost: x\r\nx-api-key: ${run.key}\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`;
  expect(await ask(upgrade)).toMatch(/ 200 /);
  expect(l.seen[0]!.headers).not.toHaveProperty('upgrade');
  expect(l.seen[0]!.headers).toMatchObject({ host: other });
});

function rawAnswer(port: number, raw: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(raw));
    socket.on('data', (piece) => (got += piece.toString())).on('close', () => resolve(got));
    socket.on('error', reject);
  });
}
