import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until.ts';

/** An address that alerts are posted to, and what was. */
export async function startHook() {
  const told: Record<string, string>[] = [];
  const server = createServer((request, answer) => {
    let body = '';
    request.on('data', (data: Buffer) => (body += data.toString()));
    request.on('end', () => {
      told.push(JSON.parse(body) as Record<string, string>);
      answer.end();
    });
  }).listen(0, '127.0.0.1');
  await until(() => server.listening);
  const webhook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { told, webhook, close: () => server.close() };
}
