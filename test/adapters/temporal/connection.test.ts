import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Runtime } from '@temporalio/worker';
import {
  type AnyConnection,
  clientOptions,
  connectClient,
  ensureSearchAttributes,
  ServerUnreachable,
} from '../../../src/adapters/temporal/connection.ts';
import { connectWorker } from '../../../src/adapters/temporal/worker-connection.ts';
import { identifyServer } from '../../../src/adapters/temporal/server-identity.ts';
import { isOfThisMachine } from '../../../src/adapters/temporal/address.ts';
import { startDevServer } from '../../../src/adapters/temporal/dev-server.ts';
import { ATTRIBUTES } from '../../../src/search-attributes.ts';
import { silentServer } from '../../helpers/silent-server.ts';
import { tempDir } from '../../helpers/temp.ts';
import { freePorts } from '../../../src/adapters/temporal/free-ports.ts';
import { startTemporal, type TestServer } from '../../helpers/temporal.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTemporal();
});
afterAll(async () => {
  await server.stop();
  await Runtime.instance().shutdown();
});

test('the address: TEMPORAL_ADDRESS, else the profile, else the own dev server, else 127.0.0.1:7233', async () => {
  await using temp = await tempDir();
  const toml = `${temp.path}/temporal.toml`;
  await writeFile(
    toml,
    '[profile.default]\nnamespace = "mine"\n[profile.cloud]\naddress = "cloud:7233"\napi_key = "secret"\n',
  );
  const base = { FLEET_HOME: server.home, TEMPORAL_CONFIG_FILE: toml };
  expect(await clientOptions({ ...base, TEMPORAL_ADDRESS: 'there:1' })).toEqual({
    address: 'there:1',
    namespace: 'mine',
    options: {},
  });
  expect(await clientOptions({ ...base, TEMPORAL_PROFILE: 'cloud' })).toEqual({
    address: 'cloud:7233',
    namespace: 'default',
    options: { apiKey: 'secret', tls: true },
  });
  expect(await clientOptions({ ...base, TEMPORAL_ADDRESS: '' })).toMatchObject({
    address: server.address,
    namespace: 'mine',
  });
  expect(await clientOptions({ ...base, FLEET_HOME: temp.path })).toMatchObject({ address: '127.0.0.1:7233' });
  await expect(clientOptions({ ...base, TEMPORAL_PROFILE: 'none' })).rejects.toMatchObject({
    message: "Temporal's client configuration cannot be used: Profile 'none' not found in config data",
    exitCode: 2,
  });
});

test.each([
  ['client', connectClient],
  ['worker', (env: NodeJS.ProcessEnv) => connectWorker({ env })],
])('%s: no server is one sentence that says how to start one, at once', async (_, connectAs) => {
  const [port] = await freePorts(1);
  const began = Date.now();
  const refused = connectAs({ ...server.env, TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
  await expect(refused).rejects.toBeInstanceOf(ServerUnreachable);
  await expect(refused).rejects.toThrow(
    `no Temporal server answers at 127.0.0.1:${port}: start one with \`temporal-dev.sh --port ${port}\`, or set TEMPORAL_ADDRESS`,
  );
  expect(Date.now() - began).toBeLessThan(2_000);
});

test('an address that accepts and says nothing may be a busy server: nobody is told to end it', async () => {
  await using mute = await silentServer();
  const address = `127.0.0.1:${mute.port}`;
  const failed = connectClient({ ...server.env, TEMPORAL_ADDRESS: address });
  await expect(failed).rejects.toBeInstanceOf(ServerUnreachable);
  await expect(failed).rejects.toMatchObject({ accepts: true, message: expect.not.stringMatching(/stop|kill/) });
});

test('a healthy server that takes longer than the first try is waited for', async () => {
  const [host, port] = server.address.split(':');
  const sockets: Socket[] = [];
  // A look, the first try and another look get no answer; the second try does.
  let connections = 0;
  const late = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    connections += 1;
    if (connections <= 3) return;
    const onward = connect({ host: host!, port: Number(port) }).on('error', () => {});
    sockets.push(onward);
    socket.pipe(onward).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(late, 'listening');
  const address = `127.0.0.1:${(late.address() as AddressInfo).port}`;
  const { client, connection } = await connectClient({ ...server.env, TEMPORAL_ADDRESS: address });
  expect((await client.workflow.count()).count).toBe(0);
  await connection.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => late.close(resolve));
});

test('whether an address is of this machine', async () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  for (const { address, family } of own.filter(({ scopeid }) => !scopeid))
    expect(await isOfThisMachine(`${family === 'IPv6' ? `[${address}]` : address}:7233`)).toBe(true);
  expect(await isOfThisMachine('localhost:7233')).toBe(true);
  expect(await isOfThisMachine('127.0.0.2:7233')).toBe(true);
  expect(await isOfThisMachine('203.0.113.7:7233')).toBe(false);
  expect(await isOfThisMachine('[2001:db8::1]:7233')).toBe(false);
  expect(await isOfThisMachine('nowhere.invalid:7233')).toBe(false);
});

test('client and worker connect to the same place', async () => {
  const { client, connection, target } = await connectClient(server.env);
  const native = await connectWorker({ env: server.env });
  expect(target).toEqual(native.target);
  expect((await client.workflow.count()).count).toBe(0);
  await expect(ensureSearchAttributes(native.connection, 'nowhere')).rejects.toThrow(
    'namespace nowhere does not exist',
  );
  await native.connection.close();
  await connection.close();
});

test('the search attributes are registered once, and can be used at once', async () => {
  const { client, connection } = await connectClient(server.env);
  try {
    await ensureSearchAttributes(connection, 'default');
    const start = client.workflow.start('agentTask', {
      taskQueue: 'nobody',
      workflowId: 'first',
      typedSearchAttributes: [
        { key: ATTRIBUTES.state, value: 'queued' },
        { key: ATTRIBUTES.labels, value: ['a', 'b'] },
        { key: ATTRIBUTES.priority, value: 50 },
      ],
    });
    await start;
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
    expect(Object.keys(customAttributes!).filter((name) => name.startsWith('Fleet'))).toHaveLength(
      Object.keys(ATTRIBUTES).length,
    );
    // A second time nothing is written: it needs no right to.
    const reader = readOnly(connection);
    await ensureSearchAttributes(reader, 'default');
    const { connection: native, namespace } = await connectWorker({ env: server.env, home: server.home });
    await ensureSearchAttributes(native, namespace);
    await native.close();
  } finally {
    await connection.close();
  }
});

test('no right to add them, no such namespace, another type: one sentence each', async () => {
  await using temp = await tempDir();
  const [port] = await freePorts(1);
  const bare = await startDevServer({ home: temp.path, port: port!, headless: true });
  const { connection } = await connectClient({ ...server.env, TEMPORAL_ADDRESS: bare.address });
  try {
    await expect(ensureSearchAttributes(readOnly(connection), 'default')).rejects.toMatchObject({
      message: `namespace default lacks the search attributes ${Object.values(ATTRIBUTES)
        .map(({ name }) => name)
        .join(', ')}, and they cannot be added: not allowed`,
      hint: expect.stringContaining(
        'temporal operator search-attribute create --namespace default --name FleetState --type Keyword ',
      ),
    });
    // Exit code 2 would end a worker's service for good.
    await expect(ensureSearchAttributes(connection, 'nowhere')).rejects.toMatchObject({
      message: 'namespace nowhere does not exist on this Temporal server',
      exitCode: 1,
    });
    await connection.operatorService.addSearchAttributes({ namespace: 'default', searchAttributes: { FleetState: 4 } });
    await expect(ensureSearchAttributes(connection, 'default')).rejects.toThrow(
      'the search attributes FleetState of namespace default have another type than the fleet needs',
    );
  } finally {
    await connection.close();
    await bare.stop();
  }
});

/** The same connection for a client that has no right to the operator service, which this server cannot refuse by itself. */
function readOnly<T extends AnyConnection>(connection: T): T {
  const refuse = async (): Promise<never> => {
    throw Object.assign(new Error('7 PERMISSION_DENIED: not allowed'), {
      code: 7,
      details: 'not allowed',
      metadata: {},
    });
  };
  return new Proxy(connection, {
    get: (target, key) => {
      if (key === 'operatorService') return { listSearchAttributes: refuse, addSearchAttributes: refuse };
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('a worker hears within the deadline that its server is gone', async () => {
  const gone = await startTemporal();
  const { connection, namespace } = await connectWorker({ env: gone.env });
  try {
    expect(await identifyServer(connection, namespace)).toMatchObject({ id: expect.any(String) });
    await gone.stop();
    for (let time = 0; time < 3; time += 1) {
      const since = performance.now();
      await expect(identifyServer(connection, namespace)).rejects.toThrow();
      // The SDK itself goes on for 6 to 10 s.
      expect(performance.now() - since).toBeLessThan(5_000);
    }
  } finally {
    await connection.close();
    await gone.stop();
  }
});
