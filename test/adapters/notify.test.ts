import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { postWebhook } from '../../src/adapters/notify.ts';

test.each(['alerts.webhook', 'callback.webhook'] as const)('a bad answer names %s', async (setting) => {
  const server = createServer((_, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(postWebhook({ url, key: 'x', body: '{}', setting })).rejects.toThrow(`${setting} answered 503`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
