import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer, type AddressInfo } from 'node:net';
import { connectProxy } from '../../src/adapters/proxy/client.ts';
import { homeLayout } from '../../src/domain/names.ts';
import type { Egress, HostRule, Reach } from '../../src/domain/task/network.ts';
import { containedBench } from '../adapters/contained-bench.ts';
import { TestFleet } from '../helpers/fleet.ts';
import { attack, withoutNetwork } from './lab.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

test('A1: an agent that has a Temporal client reaches no server, and closes no task', async () => {
  const cancel = async (options: Parameters<typeof attack>[1]) => {
    const id = await fleet.fleet.enqueue({ objective: 'Nobody runs it', type: 'research' });
    const cli = `${process.execPath} ${process.cwd()}/dist/cli/main.js`;
    const { said } = await attack(
      `FLEET_HOME=/tmp/h TEMPORAL_ADDRESS=${fleet.server.address} ${cli} cancel ${id}`,
      options,
    );
    const { events } = await fleet.client.workflow.getHandle(id).fetchHistory();
    return { said, events: events!.length };
  };
  // Started, and its first task put into its queue: no worker is there.
  expect(await cancel({ without: withoutNetwork })).toMatchObject({
    said: expect.stringContaining('is being cancelled'),
    events: 3,
  });
  expect(await cancel({})).toMatchObject({ said: expect.stringContaining(fleet.server.address), events: 2 });
});

test('A6: a socket without a file takes no connection', async () => {
  const name = `fleet-attack-${process.pid}`;
  let calls = 0;
  const server = createServer((socket) => ((calls += 1), socket.destroy())).listen(`\0${name}`);
  const client = `const s = require('node:net').connect('\\0${name}'); const say = (word) => (process.stdout.write(word), s.destroy());`;
  const command = `${process.execPath} -e "${client} s.on('connect', () => say('connected')).on('error', () => say('refused'))"`;
  try {
    expect((await attack(command, { without: withoutNetwork })).said).toBe('connected');
    expect((await attack(command)).said).toBe('refused');
  } finally {
    server.close();
  }
  expect(calls).toBe(1);
});

test('an address or a name that no proxy is asked for is refused at once', async () => {
  const started = performance.now();
  const { said } = await attack(
    `for to in 1.1.1.1:443 [2606:4700::1111]:443 169.254.169.254:80 example.org:443; do
       perl -MIO::Socket::IP -e 'print IO::Socket::IP->new(PeerAddr => "'$to'") ? "connected\\n" : "refused\\n"'
     done`,
  );
  expect(said).toBe('refused\n'.repeat(4));
  expect(performance.now() - started).toBeLessThan(8_000);
});

/** Asks the tree's way out as a client of a proxy does, and prints the status and the answer's text. */
const ASK = `
  const http = require('node:http');
  const { port, hostname } = new URL(process.env.HTTP_PROXY);
  const [url] = process.argv.slice(1);
  http.get({ host: hostname, port, path: url, headers: { host: new URL(url).host } }, (answer) => {
    let text = '';
    answer.on('data', (bytes) => (text += bytes)).on('end', () => console.log(answer.statusCode, text.trim()));
  }).on('error', (error) => console.log(error.code));`;

test('by its way out a tree reaches what is listed, and the next service on this machine is refused', async () => {
  using b = containedBench();
  const proxy = connectProxy(homeLayout(b.home), process.env);
  const servers = [0, 1].map(() =>
    createServer((socket) => socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\nthe service'))),
  );
  const ports = await Promise.all(
    servers.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as AddressInfo).port;
    }),
  );
  const ask = (host: HostRule[], port: number, narrowed: Reach[] = []) =>
    proxy.during((own) => {
      const egress: Egress = [{ by: 'network.agents', model: true, open: false, hosts: host }, ...narrowed];
      return b.run(`node -e "$ASK" http://127.0.0.1:${port}/; ls /proc/self/fd | wc -l; env | grep NODE_`, {
        way: { port: own, services: [], socket: homeLayout(b.home).egressSocket, egress },
        env: { PATH: process.env['PATH']!, ASK, HTTP_PROXY: `http://127.0.0.1:${own}` },
      });
    });
  try {
    const hosts: HostRule[] = [{ host: '127.0.0.1', port: ports[0]!, listed: true }];
    // No descriptor of the channel by which the way came, and no word of it.
    const without = await b.run('ls /proc/self/fd | wc -l');
    expect((await ask(hosts, ports[0]!)).said).toBe(`200 the service\n${without.said.trim()}`);
    expect((await ask(hosts, ports[1]!)).said).toMatch(
      /^403 fleet: port \d+ cannot be reached from here: network\.agents/,
    );
    // What its owner lists, and its task does not.
    const task = { by: 'network of the task', model: true, open: true, hosts: [] };
    expect((await ask(hosts, ports[0]!, [task])).said).toMatch(
      /^403 fleet: port \d+ cannot be reached from here: network of the task lists no 127\.0\.0\.1:/,
    );
    const temporal = Number(fleet.server.address.split(':')[1]);
    expect((await ask(hosts, temporal)).said).toMatch(/^403 /);
    expect((await ask([{ host: 'localhost', port: temporal }], temporal)).said).toMatch(/^403 /);
  } finally {
    servers.forEach((server) => server.close());
    process.kill(await proxy.pid());
    proxy.leave();
  }
});

test('two trees listen on one port, each in a network of its own', async () => {
  using b = containedBench();
  const serve =
    "require('node:net').createServer().listen(3000, '127.0.0.1', () => console.log('listens')); setTimeout(() => process.exit(), 1500)";
  const [one, other] = await Promise.all([b.run(`node -e "${serve}"`), b.run(`node -e "${serve}"`)]);
  expect([one!.said, other!.said]).toEqual(['listens\n', 'listens\n']);
});

test('a service of this machine that the owner lists is there under its port, and another one is not', async () => {
  using b = containedBench();
  const proxy = connectProxy(homeLayout(b.home), process.env);
  const listening = await Promise.all(
    ['the listed one', 'the other one'].map(async (word) => {
      const server = createServer((socket) => socket.end(word));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const [listed, other] = listening.map((server) => (server.address() as AddressInfo).port);
  const dial = (port: number | undefined) =>
    `node -e "require('node:net').connect(${port}, '127.0.0.1').on('error', (error) => console.log(error.code)).pipe(process.stdout)"`;
  try {
    const { said } = await proxy.during((port) => {
      const egress: Egress = [{ by: 'network.agents', model: true, open: false, hosts: [] }];
      const way = { port, services: [listed!], socket: homeLayout(b.home).egressSocket, egress };
      return b.run(`${dial(listed)}; echo; ${dial(other)}`, { way });
    });
    expect(said).toBe('the listed one\nECONNREFUSED\n');
  } finally {
    listening.forEach((server) => server.close());
    process.kill(await proxy.pid());
    proxy.leave();
  }
});
