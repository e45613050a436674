import { spawn } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { freePorts } from '../../src/adapters/temporal/free-ports.ts';
import { listens } from '../../src/adapters/temporal/address.ts';
import { livesHere } from '../../src/adapters/temporal/lives-here.ts';
import { startForwarder } from '../helpers/network.ts';
import { tempDir } from '../helpers/temp.ts';
import { startTemporal } from '../helpers/temporal.ts';
import { until } from '../helpers/until.ts';

const SCRIPT = fileURLToPath(new URL('../../temporal-dev.sh', import.meta.url));
const own = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find((each) => each.family === 'IPv4' && !each.internal)?.address;

test('a server that temporal-dev.sh started lives here, by each of its addresses, and is known again when it is back', async () => {
  await using home = await tempDir();
  await using other = await tempDir();
  const [port, uiPort] = await freePorts(2);
  const ip = own ?? '127.0.0.1';
  const addresses = [`127.0.0.1:${port}`, `localhost:${port}`, `${ip}:${port}`];
  const looks = addresses.map((address) => livesHere(address, other.path));
  const look = () => Promise.all(looks.map((one) => one()));
  expect(await look()).toEqual([undefined, undefined, undefined]);
  for (let time = 0; time < 2; time += 1) {
    const server = spawn(SCRIPT, ['--port', String(port), '--ui-port', String(uiPort), '--ip', ip, '--headless'], {
      env: { ...process.env, FLEET_HOME: home.path },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => server.once('exit', resolve));
    try {
      for (const address of addresses) await until(() => listens(address), { timeoutMs: 60_000 });
      expect(await look()).toEqual([true, true, true]);
      // Nobody knows this name, and that address is another machine's.
      for (const host of ['nowhere.invalid', '192.0.2.1'])
        expect(await livesHere(`${host}:${port}`, other.path)()).toBe(false);
    } finally {
      server.kill('SIGKILL');
      await ended;
    }
    await until(async () => !(await listens(addresses[2]!)));
    expect(await look()).toEqual([undefined, undefined, undefined]);
  }
});

test("behind another program's end on this machine the server is elsewhere, also where one of this machine has the same port", async () => {
  await using home = await tempDir();
  const server = await startTemporal();
  const port = Number(server.address.split(':')[1]);
  const forwarders = [await startForwarder({ from: '127.0.0.1', to: server.address })];
  try {
    expect(await livesHere(forwarders[0]!.address, home.path)()).toBe(false);
    const look = livesHere(server.address, home.path);
    expect(await look()).toBe(true);
    forwarders.push(await startForwarder({ from: '127.0.0.2', port, to: server.address }));
    for (const address of [`127.0.0.2:${port}`, server.address])
      expect(await livesHere(address, home.path)()).toBe(false);
    expect(await look()).toBe(false);
    // Its own is known by its record.
    expect(await livesHere(server.address, server.home)()).toBe(true);
  } finally {
    for (const forwarder of forwarders) await forwarder.close();
    await server.stop();
  }
});
