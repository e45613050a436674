import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { lab } from './lab.ts';

/** A machine that reaches the network only over a proxy of its own. */
async function machineProxy() {
  const asked: string[] = [];
  const server = createServer();
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    const [host, port] = (request.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const end of [onward, socket]) end.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('the machine’s own proxy is used for the way to the model, but for what NO_PROXY names', async () => {
  await using machine = await machineProxy();
  await using l = await lab({ HTTP_PROXY: machine.url });
  const run = await l.open();
  expect((await run.ask()).status).toBe(200);
  expect(machine.asked).toEqual([new URL(l.upstream.url).host]);

  await using direct = await lab({ HTTP_PROXY: machine.url, NO_PROXY: '127.0.0.1' });
  expect((await (await direct.open()).ask()).status).toBe(200);
  expect(machine.asked).toHaveLength(1);
});
