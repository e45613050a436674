import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer, type AddressInfo } from 'node:net';
import { readBegin } from '../../../src/adapters/proxy/client-hello.ts';
import { noteReached, readReached } from '../../../src/adapters/proxy/reached.ts';
import { until } from '../../helpers/until.ts';
import { clientHello, egressLab, listed, OWN, type EgressLab } from './egress-lab.ts';

let lab: EgressLab;
beforeAll(async () => {
  lab = await egressLab();
});
afterAll(async () => lab[Symbol.asyncDispose]());

const connectTo = (authority: string, host = authority) => `CONNECT ${authority} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const get = (url: string, host: string) => `GET ${url} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

describe('what the owner lists is reached', () => {
  test('by a tunnel, also at a private address', async () => {
    const hosts = [listed('localhost', lab.port)];
    const request = [connectTo(`localhost:${lab.port}`), 'GET / HTTP/1.0\r\n\r\n'].map((text) => Buffer.from(text));
    expect(await lab.say({ hosts }, request)).toMatch(/^HTTP\/1.1 200 [^]*reached$/);
  });

  test('by an absolute URL, with the headers that are for the server', async () => {
    const url = `http://127.0.0.1:${lab.port}/a?b`;
    const said = `GET ${url} HTTP/1.1\r\nHost: 127.0.0.1:${lab.port}\r\nProxy-Authorization: x\r\nAccept: y\r\n\r\n`;
    expect(await lab.say({ hosts: [listed('127.0.0.1', lab.port)] }, said, /reached/)).toContain('reached');
    expect(lab.seen.at(-1)).toMatch(/^GET \/a\?b HTTP\/1.1\r\naccept: y\r\nhost: 127.0.0.1:\d+\r\n/);
    expect(lab.seen.at(-1)).not.toMatch(/proxy/i);
    const to = { host: '127.0.0.1', port: lab.port };
    await until(() => lab.reached().some((line) => line.is === 'closed' && line.host === to.host));
    expect(lab.reached().filter(({ host }) => host === to.host)).toEqual([
      { is: 'open', ...to },
      { is: 'closed', ...to, up: expect.any(Number), down: expect.any(Number) },
    ]);
  });

  test('one that only listens was told something all the same', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1');
    await until(() => silent.address());
    const { port } = silent.address() as AddressInfo;
    const hosts = [listed('127.0.0.1', port)];
    const said = `POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 6\r\n\r\nSECRET`;
    const asked = lab.say({ hosts }, said);
    await until(() => lab.reached().some((line) => line.is === 'open' && line.port === port));
    silent.close();
    await asked;
  });

  test('what is refused takes only its part of the record', async () => {
    const host = `${'x'.repeat(4_000)}.example`;
    for (let i = 0; i < 1_200; i += 1) noteReached(`${lab.root}/many`, { is: 'refused', host, port: 443 });
    noteReached(`${lab.root}/many`, { is: 'open', host: 'a.example', port: 443 });
    const { lines, all } = readReached(`${lab.root}/many`);
    expect(lines.at(-1)).toMatchObject({ is: 'open', host: 'a.example' });
    expect(lines[0]!.host).toMatch(/^x{245}\.example$/);
    expect(all).toBe(false);
  });

  test('one that does not answer is reached by nobody', async () => {
    const hosts = [listed('nobody.invalid', 80)];
    const said = 'GET http://nobody.invalid/ HTTP/1.1\r\nHost: nobody.invalid\r\n\r\n';
    expect(await lab.say({ hosts }, said, /cannot be reached/)).toContain('502 Bad Gateway');
    expect(lab.reached().filter(({ host }) => host === 'nobody.invalid')).toEqual([]);
  });

  test.each(['/r/1/v1/messages', `http://${OWN.host}:${OWN.port}/r/1/v1/messages`])('the model, by %s', async (url) => {
    expect(await lab.say({}, get(url, 'x'), /model/)).toContain('the model');
    expect(await lab.say({ model: false }, get(url, 'x'))).toMatch(/ 403 .*network\.agents/s);
  });

  test('the model, by a client that asks even for it by a tunnel', async () => {
    const own = `${OWN.host}:${OWN.port}`;
    const request = [connectTo(own), get('/r/1/v1/messages', own)].map((text) => Buffer.from(text));
    expect(await lab.say({}, request, /model/)).toContain('the model');
  });
});

describe('nothing else is, and a refusal says at once which key allows it', () => {
  test.each([
    ['a host that is not listed', {}, 'example.org:443', /example\.org .*network\.agents/],
    ['another port', { open: true }, 'example.org:22', /port 22 .*network\.agents .*example\.org:22/],
    ['another port of a listed host', { hosts: [{ host: 'example.org' }] }, 'example.org:22', /port 22/],
    ['this machine', { open: true }, 'localhost:443', /private address/],
    ['its address', { open: true }, '127.0.0.1:443', /private address/],
    ['its address as a number', { open: true }, '2130706433:443', /private address/],
    ['its address in short', { open: true }, '127.1:443', /private address/],
    ['its address in IPv6', { open: true }, '[::ffff:127.0.0.1]:443', /private address/],
    ['what a cloud tells its machines', { open: true }, '169.254.169.254:443', /private address/],
    ['a tunnel to port 80', { open: true }, 'example.org:80', /port 443/],
    ['a pattern as a name', { hosts: [{ host: '*.example.org' }] }, '*.example.org:443', /host and port/],
  ])('%s', async (_, egress, authority, why) => {
    const started = performance.now();
    const answer = await lab.say(egress, connectTo(authority));
    expect(answer).toMatch(/^HTTP\/1.1 403 Forbidden\r\n/);
    expect(answer.split('\r\n\r\n')[1]).toMatch(why);
    if (!authority.includes('*')) expect(lab.reached().at(-1)).toMatchObject({ is: 'refused' });
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  test('names that do not agree', async () => {
    expect(await lab.say({ open: true }, connectTo('example.org:443', 'example.com:443'))).toContain(' 403 ');
    expect(await lab.say({ open: true }, get('http://example.org/', 'example.com'))).toContain(' 403 ');
    expect(await lab.say({ hosts: [{ host: 'example.org' }] }, get('http://localhost/', 'localhost'))).toContain(
      ' 403 ',
    );
  });

  test('a name with a NUL, and what is no proxy request', async () => {
    const hosts = [{ host: '*.example.org' }];
    expect(await lab.say({ hosts }, connectTo('localhost\0.example.org:443'))).not.toContain(' 200 ');
    expect(await lab.say({ open: true }, get('https://example.org/', 'example.org'))).toContain(' 403 ');
    expect(await lab.say({ open: true }, get('ftp://example.org/', 'example.org'))).toContain(' 403 ');
  });

  test('a tunnel whose first bytes ask for another server', async () => {
    const hosts = [listed('localhost', lab.port)];
    const tunnel = (hello: Buffer) =>
      lab.say({ hosts }, [Buffer.from(connectTo(`localhost:${lab.port}`)), hello], /reached/);
    const before = lab.seen.length;
    expect(await tunnel(await clientHello('elsewhere.example.org'))).not.toContain('reached');
    expect(await tunnel(await clientHello(undefined))).not.toContain('reached');
    expect(lab.seen).toHaveLength(before);
    expect(await tunnel(await clientHello('localhost'))).toContain('reached');
  });
});

test('where this machine needs a proxy itself, the way leads over that, but for NO_PROXY and private addresses', async () => {
  const heard: string[] = [];
  const parent = createServer((socket) =>
    socket.once('data', (bytes) => {
      heard.push(bytes.toString('latin1'));
      if (!heard.at(-1)!.startsWith('CONNECT')) return void socket.end('HTTP/1.0 200 OK\r\n\r\nby the parent');
      socket.write('HTTP/1.1 200 Established\r\n\r\n');
      socket.once('data', () => socket.end('by the parent'));
    }),
  );
  await new Promise<void>((resolve) => parent.listen(0, '127.0.0.1', resolve));
  const url = `http://me:pa%40ss@127.0.0.1:${(parent.address() as AddressInfo).port}`;
  await using behind = await egressLab({ HTTP_PROXY: url, https_proxy: url, NO_PROXY: 'localhost,.direct.invalid' });
  try {
    const hosts = [{ host: 'there.invalid' }, { host: 'x.direct.invalid' }, listed('127.0.0.1', behind.port)];
    const tunnel = [Buffer.from(connectTo('there.invalid:443')), await clientHello('there.invalid')];
    expect(await behind.say({ hosts }, tunnel, /by the parent/)).toMatch(/^HTTP\/1.1 200 [^]*by the parent$/);
    const authorization = `Basic ${Buffer.from('me:pa@ss').toString('base64')}`;
    expect(heard[0]).toBe(
      `CONNECT there.invalid:443 HTTP/1.1\r\nHost: there.invalid:443\r\nProxy-Authorization: ${authorization}\r\n\r\n`,
    );
    expect(await behind.say({ hosts }, get('http://there.invalid/a', 'there.invalid'))).toContain('by the parent');
    expect(heard[1]).toMatch(/^GET http:\/\/there\.invalid\/a HTTP\/1.1\r\n/);
    expect(await behind.say({ hosts }, connectTo('x.direct.invalid:443'))).toContain(' 502 ');
    expect(await behind.say({ open: true }, connectTo('localhost.:443'))).toContain(' 403 ');
    const near = `127.0.0.1:${behind.port}`;
    expect(await behind.say({ hosts }, get(`http://${near}/`, near), /reached/)).toContain('reached');
    expect(heard).toHaveLength(2);
  } finally {
    parent.close();
  }
});

test('a ClientHello is read in whatever pieces it comes, and nothing else is taken for one', async () => {
  const hello = await clientHello('example.org');
  expect(readBegin(hello)).toEqual({ is: 'tls', name: 'example.org' });
  for (let length = 0; length < hello.length; length += 1)
    expect(readBegin(hello.subarray(0, length))).toEqual({ is: 'short' });
  // The same message in two records.
  const records = [hello.subarray(5, 50), hello.subarray(50)].map((part) => {
    const head = Buffer.from([...hello.subarray(0, 3), 0, 0]);
    head.writeUInt16BE(part.length, 3);
    return Buffer.concat([head, part]);
  });
  expect(readBegin(Buffer.concat(records))).toEqual({ is: 'tls', name: 'example.org' });
  expect(readBegin(Buffer.from('GET / HTTP/1.1'))).toEqual({ is: 'other' });
  expect(readBegin(Buffer.from([22, 3, 1, 0, 1, 2]))).toEqual({ is: 'other' });
});
