import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { freePorts } from '../../../src/adapters/temporal/free-ports.ts';

const TIME_WAIT = '06';

test('free ports are given to nobody who asks for any, and can be listened on', async () => {
  const ports = await freePorts(3);
  expect(new Set(ports).size).toBe(3);
  const closed = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === TIME_WAIT)
    .map(([, local = '']) => Number.parseInt(local.split(':')[1]!, 16));
  expect(ports.filter((port) => !closed.includes(port))).toEqual([]);
  for (const port of ports) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
  }
});
