import { createHash } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { Meter } from '../../../src/adapters/proxy/meter.ts';
import { routeOf } from '../../../src/adapters/proxy/routes.ts';
import type { WireExchange } from '../../../src/domain/agent/model-traffic.ts';
import { BODIES, COMMAND, type Bodies } from './bodies.ts';

const SSE = { 'content-type': 'text/event-stream; charset=utf-8' };
const JSON_TYPE = { 'content-type': 'application/json' };

/** An exchange whose answer comes in these pieces. */
function heard(
  { api, path, request }: Pick<Bodies, 'api' | 'path' | 'request'>,
  pieces: Buffer[],
  { headers = SSE as Record<string, string>, status = 200, cut = false } = {},
): Promise<WireExchange> {
  const route = routeOf(api, 'POST', path)!;
  const meter = new Meter({ path, reader: route.reader });
  meter.request(Buffer.from(typeof request === 'string' ? request : JSON.stringify(request)));
  meter.begin(status, headers);
  for (const piece of pieces) meter.answer(piece);
  return meter.end((results) => results, cut);
}
const still = ({ calls, results, usage, model, unread }: WireExchange) => ({ calls, results, usage, model, unread });

describe.each(BODIES.map((body) => [body.api, body] as const))('%s', (_, body) => {
  const whole = Buffer.from(body.streamed);

  test('a streamed answer: calls, results, tokens', async () => {
    const exchange = await heard(body, [whole]);
    expect(exchange.calls.map(({ id }) => id)).toEqual(body.ids);
    expect(exchange.calls.map(({ name }) => name)).toEqual(body.names);
    expect(exchange.calls[0]).toMatchObject({
      input: COMMAND.command,
      sha256: createHash('sha256').update(JSON.stringify(COMMAND)).digest('hex'),
    });
    expect(exchange.results.map(({ id }) => id)).toEqual(body.told);
    expect(exchange.usage).toEqual(body.usage);
    expect(exchange).toMatchObject({ status: 200, received: whole.length });
    expect(exchange).not.toHaveProperty('unread');
    expect(exchange).not.toHaveProperty('error');
  });

  test('torn at any byte it is the same', async () => {
    const expected = still(await heard(body, [whole]));
    for (let at = 1; at < whole.length; at += 1)
      expect(still(await heard(body, [whole.subarray(0, at), whole.subarray(at)]))).toEqual(expected);
    expect(
      still(
        await heard(
          body,
          [...whole].map((byte) => Buffer.from([byte])),
        ),
      ),
    ).toEqual(expected);
    const returns = Buffer.from(body.streamed.replaceAll('\n', '\r\n'));
    for (let at = 1; at < returns.length; at += 1)
      expect(still(await heard(body, [returns.subarray(0, at), returns.subarray(at)]))).toEqual(expected);
  });

  test('a plain answer says the same', async () => {
    const plain = Buffer.from(JSON.stringify(body.plain));
    expect(still(await heard(body, [plain], { headers: JSON_TYPE }))).toEqual(still(await heard(body, [whole])));
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('an answer in %s is read from a copy', async (coding, pack) => {
    const headers = { ...SSE, 'content-encoding': coding };
    const packed = pack(whole);
    const pieces = [packed.subarray(0, 20), packed.subarray(20)];
    expect(still(await heard(body, pieces, { headers }))).toEqual(still(await heard(body, [whole])));
  });

  test('what cannot be read is noted, and does no harm', async () => {
    for (const garbage of ['data: {"broken\n\n', 'data: [1]\n\n'])
      expect(await heard(body, [Buffer.from(garbage)])).toMatchObject({
        unread: 'its answer cannot be read',
        calls: [],
      });
    for (const garbage of ['<html>', '"x"'])
      expect(await heard(body, [Buffer.from(garbage)], { headers: JSON_TYPE })).toMatchObject({
        unread: 'its answer cannot be read',
      });
    expect(await heard({ ...body, request: '{"x' }, [whole])).toMatchObject({ unreadRequest: 'it is no JSON' });
    const zstd = { ...SSE, 'content-encoding': 'zstd' };
    expect(await heard(body, [whole], { headers: zstd })).toMatchObject({ unread: 'its answer is encoded as zstd' });
    for (const strange of [
      '{}',
      '{"messages":1,"input":{},"contents":[null,{"parts":3}],"choices":[{}],"content":[[]]}',
    ])
      expect(await heard({ ...body, request: strange }, [Buffer.from(strange)], { headers: JSON_TYPE })).toMatchObject({
        calls: [],
        results: [],
      });
  });

  test('an answer that was cut tells what had come', async () => {
    const exchange = await heard(body, [whole.subarray(0, whole.length - 5)], { cut: true });
    expect(exchange).toMatchObject({ cut: true });
    expect(exchange.calls[0]).toMatchObject({ id: body.ids[0], name: body.names[0] });
    expect(exchange).not.toHaveProperty('unread');
  });
});

test('an error in the middle of a stream is one, whatever the status', async () => {
  const [body] = BODIES;
  const said = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
  expect(await heard(body!, [Buffer.from(said)])).toMatchObject({
    error: { failure: 'overloaded', message: '200 overloaded_error Overloaded' },
  });
});

test('an event that is too large is dropped, and what follows is read', async () => {
  const [body] = BODIES;
  const large = Buffer.from(`data: "${'x'.repeat(9 * 1024 * 1024)}"\n\n`);
  const exchange = await heard(body!, [large, Buffer.from(body!.streamed)]);
  expect(exchange).toMatchObject({ unread: 'it has events of more than 8 MB', usage: body!.usage });
});

test('what only keeps a connection open, and an error, is no answer', () => {
  const route = routeOf('anthropic', 'POST', '/v1/messages')!;
  const heardOf = (status: number, headers: Record<string, string>, data: string) => {
    const meter = new Meter({ path: '/v1/messages', reader: route.reader });
    meter.begin(status, headers);
    meter.answer(Buffer.from(data));
    return meter.answered;
  };
  expect(heardOf(200, SSE, 'event: ping\ndata: {"type": "ping"}\n\n: still here\n\n')).toBe(0);
  expect(heardOf(200, SSE, 'data: {"type":"content_block_delta"}\n\n')).toBeGreaterThan(0);
  expect(heardOf(200, { ...SSE, 'content-encoding': 'unknown' }, 'data: {"type": "ping"}\n\n')).toBeGreaterThan(0);
  expect(heardOf(200, JSON_TYPE, '{"id":')).toBeGreaterThan(0);
  expect(heardOf(529, JSON_TYPE, '{"type":"error"}')).toBe(0);
});
