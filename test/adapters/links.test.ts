import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { askLinks } from '../../src/adapters/artifacts/links.ts';
import { until } from '../helpers/until.ts';

describe('asking a link', () => {
  let server: Server;
  let url: string;
  const asked: string[] = [];
  beforeEach(async () => {
    asked.length = 0;
    server = createServer(({ url: path = '' }, response) => {
      asked.push(path);
      if (path === '/silent') return;
      const to = { '/moved': '/there', '/round': '/round', '/inside': 'http://localhost:1/' }[path];
      response.writeHead(to ? 302 : path === '/there' ? 200 : path === '/shut' ? 403 : 404, to ? { location: to } : {});
      response.end('x'.repeat(100_000));
    }).listen(0, '127.0.0.1');
    await until(() => server.address());
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const own = (host: string) => host === '127.0.0.1';

  test('what it answers decides; a redirect is followed, a few times', async () => {
    const links = ['/there', '/moved', '/none', '/shut', '/round'].map((path) => url + path);
    const states = await askLinks(links, { mayAsk: own });
    expect(states.map(({ state }) => state)).toEqual(['there', 'there', 'gone', 'unknown', 'unknown']);
  });

  test.each(['http://127.0.0.1', 'http://2130706433', 'http://[::1]', 'http://[::ffff:127.0.0.1]', 'http://localhost'])(
    '%s is private, and not asked',
    async (host) => {
      const [state] = await askLinks([url.replace('http://127.0.0.1', host)], { mayAsk: () => false });
      expect(state).toMatchObject({ state: 'unknown', why: 'leads to a private address, which is not asked' });
      expect(asked).toEqual([]);
    },
  );

  test('nor is one that a redirect leads to', async () => {
    expect(await askLinks([`${url}/inside`], { mayAsk: own })).toMatchObject([
      { state: 'unknown', why: 'leads to a private address, which is not asked' },
    ]);
  });

  test('one that does not answer has a deadline', async () => {
    const [state] = await askLinks([`${url}/silent`], { mayAsk: own, eachMs: 300 });
    expect(state).toMatchObject({ state: 'unknown', why: 'gave no answer in time' });
  });

  test('a worker that is told to stop waits for none', async () => {
    const stop = new AbortController();
    const answer = askLinks([`${url}/silent`], { mayAsk: own, signal: stop.signal });
    await until(() => asked.length > 0);
    stop.abort(new Error('stopped'));
    await expect(answer).rejects.toThrow('stopped');
  });
});
